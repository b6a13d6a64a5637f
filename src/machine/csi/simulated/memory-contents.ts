// MemoryContents: files of volumes and snapshots in memory.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { SnapshotRecord, VolumeContents, VolumeRecord } from './storage-system.ts'

/** Contents by path relative to the volume; a block volume has one file with an empty path. */
export type VolumeFiles = Map<string, Uint8Array>

export class MemoryContents implements VolumeContents {
  readonly #volumes = new Map<string, VolumeFiles>()
  readonly #snapshots = new Map<string, VolumeFiles>()

  filesOf(volumeId: string): VolumeFiles {
    return getOrInsert(this.#volumes, volumeId, () => new Map())
  }

  create({ id, source }: VolumeRecord): Promise<void> {
    const from = source?.kind === 'snapshot' ? this.#snapshots.get(source.id) : this.#volumes.get(source?.id ?? '')
    this.#volumes.set(id, copyOf(from))
    return Promise.resolve()
  }

  delete({ id }: VolumeRecord): Promise<void> {
    this.#volumes.delete(id)
    return Promise.resolve()
  }

  expand(): Promise<void> {
    return Promise.resolve()
  }

  createSnapshot({ id }: SnapshotRecord, source: VolumeRecord): Promise<void> {
    this.#snapshots.set(id, copyOf(this.filesOf(source.id)))
    return Promise.resolve()
  }

  deleteSnapshot({ id }: SnapshotRecord): Promise<void> {
    this.#snapshots.delete(id)
    return Promise.resolve()
  }
}

const copyOf = (files: VolumeFiles = new Map()): VolumeFiles =>
  new Map([...files].map(([path, content]) => [path, content.slice()]))
