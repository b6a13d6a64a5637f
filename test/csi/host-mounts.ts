// hostMounts: volumes at paths of this machine. Folders are bind mounted; images are mounted through loop devices, which
// the kernel frees with the mount. A block volume is a bind mount of its loop device.
import { existsSync } from 'node:fs'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { DriverError } from '../../src/machine/csi/simulated/driver-error.ts'
import type {
  MountOptions,
  UsageNumbers,
  VolumeMounts,
  VolumeRecord,
} from '../../src/machine/csi/simulated/storage-system.ts'
import { hostMounts, mountAt, run } from './commands.ts'
import { isImage, type FileContents } from './file-contents.ts'
import { loopDevicesOf } from './loop-devices.ts'

export class HostVolumeMounts implements VolumeMounts {
  readonly #contents: FileContents

  constructor(contents: FileContents) {
    this.#contents = contents
  }

  async stage(volume: VolumeRecord, stagingPath: string, options: MountOptions): Promise<void> {
    const source = this.#contents.pathOf(volume)
    if (volume.isBlock) return void (await loopDevice(source))
    await mkdir(stagingPath, { recursive: true })
    if (mountAt(stagingPath) !== undefined) return
    if (!isImage(volume)) return bind(source, stagingPath, options)
    if (options.fsType !== '' && options.fsType !== 'ext4')
      throw new DriverError('INVALID_ARGUMENT', `the filesystem ${options.fsType} is not supported`)
    // An unmounted filesystem can grow on every kernel, also where a mounted one cannot.
    await checkFilesystem(source)
    await run('resize2fs', source)
    await run('mount', '-o', ['loop', ...options.flags].join(','), source, stagingPath)
  }

  async unstage(volumeId: string, stagingPath: string): Promise<void> {
    await unmount(stagingPath)
    const image = this.#contents.pathOf({ id: volumeId, isBlock: true, parameters: {} })
    if (!existsSync(image)) return
    for (const device of await loopDevicesOf(image)) if (!isPublished(device)) await run('losetup', '--detach', device)
  }

  async publish(volume: VolumeRecord, stagingPath: string, targetPath: string, options: MountOptions): Promise<void> {
    if (mountAt(targetPath) !== undefined) return
    if (volume.isBlock) {
      await mkdir(dirname(targetPath), { recursive: true })
      await writeFile(targetPath, '')
      return bind(await loopDevice(this.#contents.pathOf(volume)), targetPath, options)
    }
    await mkdir(targetPath, { recursive: true })
    return bind(volume.isEphemeral ? this.#contents.pathOf(volume) : stagingPath, targetPath, options)
  }

  async unpublish(_volumeId: string, targetPath: string): Promise<void> {
    await unmount(targetPath)
    await rm(targetPath, { recursive: true, force: true })
  }

  async expand(volume: VolumeRecord, _path: string): Promise<void> {
    if (volume.isBlock) return
    for (const device of await loopDevicesOf(this.#contents.pathOf(volume)))
      await run('resize2fs', device).catch((error: unknown) => {
        throw new DriverError('FAILED_PRECONDITION', `the filesystem cannot grow while it is mounted: ${String(error)}`)
      })
  }

  async usage(volume: VolumeRecord, path: string): Promise<{ bytes: UsageNumbers; inodes: UsageNumbers }> {
    if (volume.isBlock) return { bytes: usage(volume.capacityBytes, 0), inodes: usage(0, 0) }
    const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path)
    const inodes = usage(files, files - ffree)
    if (isImage(volume))
      return { bytes: { total: blocks * bsize, used: (blocks - bfree) * bsize, available: bavail * bsize }, inodes }
    const [used = '0'] = (await run('du', '--bytes', '--summarize', path)).split('\t')
    return { bytes: usage(volume.capacityBytes, Number(used)), inodes }
  }
}

const usage = (total: number, used: number): UsageNumbers => ({ total, used, available: Math.max(0, total - used) })

async function bind(from: string, to: string, { isReadOnly, flags }: MountOptions): Promise<void> {
  await run('mount', '--bind', from, to)
  const options = [...flags, ...(isReadOnly ? ['ro'] : [])]
  if (options.length > 0) await run('mount', '-o', ['remount', 'bind', ...options].join(','), to)
}

async function unmount(path: string): Promise<void> {
  while (mountAt(path) !== undefined) await run('umount', path)
}

/** Another node of this machine may have the device. */
const isPublished = (device: string): boolean => hostMounts().some(({ root }) => root === `/${basename(device)}`)

/** Also replays the journal of a filesystem that was copied while it was mounted; the exit code is then 1. */
async function checkFilesystem(image: string): Promise<void> {
  await run('e2fsck', '-fp', image).catch((error: unknown) => {
    if ((error as { readonly code?: unknown }).code !== 1) throw error
  })
}

/** The loop device of an image, attached if it is not. */
async function loopDevice(image: string): Promise<string> {
  const [existing] = await loopDevicesOf(image)
  return existing ?? run('losetup', '--find', '--show', image)
}
