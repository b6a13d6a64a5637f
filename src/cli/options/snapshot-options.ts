// Options of scheduled snapshots.
import { resolve } from 'node:path'
import { durationMs } from '../../apiserver/config/config-reader.ts'
import type { SnapshotChoices } from '../../cluster/snapshots/snapshot-schedule.ts'
import { UsageError, type CommandOption } from '../command/command.ts'
import { passphraseFileOf } from './passphrase.ts'
import { numberOf } from './server-options.ts'

const section = 'Scheduled snapshots'
const everyMsMin = 60_000
const everyMsMax = 366 * 24 * 3_600_000
const keepDefault = 5
const keepMax = 1_000

export const snapshotOptions = {
  'snapshot-every': {
    type: 'string',
    value: '<time>',
    help: 'take a snapshot of the cluster at this interval: 12h; of several servers one takes it',
    section,
  },
  'snapshot-keep': {
    type: 'string',
    value: '<n>',
    help: `how many of these snapshots are kept (${keepDefault})`,
    section,
  },
  'snapshot-dir': {
    type: 'string',
    value: '<folder>',
    help: 'where they are written (snapshots in the data directory)',
    section,
  },
  'snapshot-passphrase-file': {
    type: 'string',
    value: '<file>',
    help: 'a file whose first line is their passphrase; without it they are not encrypted, and omit the keys',
    section,
  },
} as const satisfies Record<string, CommandOption>

type SnapshotFlags = { readonly [Name in keyof typeof snapshotOptions]?: string | undefined }

/** Undefined: none are taken. */
export async function snapshotChoicesOf(flags: SnapshotFlags): Promise<SnapshotChoices | undefined> {
  const { 'snapshot-every': every, 'snapshot-dir': folder, 'snapshot-passphrase-file': path } = flags
  const given = Object.keys(snapshotOptions).find((name) => flags[name as keyof SnapshotFlags] !== undefined)
  if (every === undefined) {
    if (given !== undefined) throw new UsageError(`--${given} needs --snapshot-every <time>`)
    return undefined
  }
  const everyMs = durationMs(every)
  if (everyMs === undefined || everyMs < everyMsMin || everyMs > everyMsMax)
    throw new UsageError(`--snapshot-every ${JSON.stringify(every)} is not a duration from 1m to 8784h, such as 12h`)
  return {
    everyMs,
    keep: numberOf('--snapshot-keep', flags['snapshot-keep'] ?? String(keepDefault), keepMax, 1),
    folder: folder === undefined ? undefined : resolve(folder),
    passphrase: path === undefined ? undefined : await passphraseFileOf(path, '--snapshot-passphrase-file'),
  }
}
