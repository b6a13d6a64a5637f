// FileContents: volumes and snapshots as folders, or as image files if they are block volumes or have the parameter
// `backing: file`. A copy is made under a temporary name, so that an interrupted one is not taken for a volume.
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotRecord, VolumeContents, VolumeRecord } from '../../src/machine/csi/simulated/storage-system.ts'
import { hostMounts, run } from './commands.ts'
import { loopDevicesOf } from './loop-devices.ts'

export class FileContents implements VolumeContents {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The folder or the image file of a volume. */
  pathOf({ id, ...volume }: Pick<VolumeRecord, 'id' | 'isBlock' | 'parameters'>): string {
    return join(this.#folder, 'volumes', isImage(volume) ? `${id}.img` : id)
  }

  async create(volume: VolumeRecord): Promise<void> {
    const path = this.pathOf(volume)
    if (existsSync(path)) return
    const unfinished = `${path}.unfinished`
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(join(this.#folder, 'volumes'), { recursive: true })
    if (volume.source !== undefined) await this.#copy(this.#sourcePath(volume), unfinished)
    else if (!isImage(volume)) await mkdir(unfinished)
    if (isImage(volume)) await truncate(await touched(unfinished), volume.capacityBytes)
    if (isImage(volume) && !volume.isBlock && volume.source === undefined) await run('mkfs.ext4', '-q', unfinished)
    await rename(unfinished, path)
  }

  async delete(volume: VolumeRecord): Promise<void> {
    const path = this.pathOf(volume)
    for (const each of [path, `${path}.unfinished`]) await rm(each, { recursive: true, force: true })
  }

  async expand(volume: VolumeRecord): Promise<void> {
    if (!isImage(volume)) return
    await truncate(this.pathOf(volume), volume.capacityBytes)
    // Devices of nodes have the new size at once, so that only filesystems must be expanded on the node.
    for (const device of await loopDevicesOf(this.pathOf(volume))) await run('losetup', '--set-capacity', device)
  }

  async createSnapshot({ id }: SnapshotRecord, source: VolumeRecord): Promise<void> {
    const to = this.#snapshotPath(id, source)
    await mkdir(join(this.#folder, 'snapshots'), { recursive: true })
    await rm(`${to}.unfinished`, { recursive: true, force: true })
    await this.#copy(this.pathOf(source), `${to}.unfinished`)
    await rm(to, { recursive: true, force: true })
    await rename(`${to}.unfinished`, to)
  }

  async deleteSnapshot({ id }: SnapshotRecord): Promise<void> {
    for (const name of [id, `${id}.img`])
      await rm(join(this.#folder, 'snapshots', name), { recursive: true, force: true })
  }

  #snapshotPath(id: string, source: Pick<VolumeRecord, 'isBlock' | 'parameters'>): string {
    return join(this.#folder, 'snapshots', isImage(source) ? `${id}.img` : id)
  }

  /** The source has the same form as the volume. */
  #sourcePath(volume: VolumeRecord): string {
    const id = volume.source?.id ?? ''
    return volume.source?.kind === 'snapshot' ? this.#snapshotPath(id, volume) : this.pathOf({ ...volume, id })
  }

  async #copy(from: string, to: string): Promise<void> {
    // A mounted filesystem writes its pages to the image first.
    for (const device of await loopDevicesOf(from))
      for (const { path, source } of hostMounts()) if (source === device) await run('sync', '-f', path)
    await run('cp', '-a', '--sparse=always', from, to)
  }
}

export const isImage = ({ isBlock, parameters }: Pick<VolumeRecord, 'isBlock' | 'parameters'>): boolean =>
  isBlock || parameters['backing'] === 'file'

async function touched(path: string): Promise<string> {
  await run('touch', path)
  return path
}
