// When and where snapshots of a cluster are taken by themselves.
import { join, resolve } from 'node:path'

/** What the flags choose. */
export interface SnapshotChoices {
  readonly everyMs: number
  /** How many of this cluster are kept. */
  readonly keep: number
  /** Without one the keys are omitted. */
  readonly passphrase: string | undefined
  /** By default a folder of the data directory. */
  readonly folder: string | undefined
}

export interface SnapshotSchedule extends SnapshotChoices {
  /** The data directory of the cluster. */
  readonly dataDirectory: string
  /** Where the files are. */
  readonly folder: string
}

export const snapshotFolderOf = (dataDirectory: string): string => join(dataDirectory, 'snapshots')

export const scheduleOf = (choices: SnapshotChoices, dataDirectory: string): SnapshotSchedule => ({
  ...choices,
  dataDirectory: resolve(dataDirectory),
  folder: resolve(choices.folder ?? snapshotFolderOf(dataDirectory)),
})
