// local: a directory of the node, or a block device, which is formatted when it is first used.
import type { Context } from '../../../base/observability/context.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import { applyFsGroup } from '../files/fs-group.ts'
import {
  DeviceError,
  directoryBeside,
  FormattedVolumeError,
  type MountedVolume,
  type PodVolume,
} from '../contract/volume-type.ts'

type LocalSource = NonNullable<PersistentVolume['spec']['local']>

const defaultFileSystem = 'ext4'

/** `name`: the name of the persistent volume. */
export async function mountLocal(
  name: string,
  { path, fsType = '' }: LocalSource,
  mountOptions: readonly string[],
  work: PodVolume,
  disk: Disk,
  context: Context,
): Promise<MountedVolume> {
  const failed = (step: string, why: string, cause?: unknown) =>
    new FormattedVolumeError(`MountVolume.${step} failed for volume ${JSON.stringify(name)} : ${why}`, { cause })
  const kind = await disk.kindOf(path)
  if (kind === 'directory') {
    await applyFsGroup(path, work, disk, context)
    return { path, readOnly: false }
  }
  if (kind === undefined) throw failed('NewMounter initialization', `path ${JSON.stringify(path)} does not exist`)
  if (kind !== 'block-device')
    throw failed('MountDevice', `${JSON.stringify(path)} is neither a directory nor a block device`)
  // The type is a part of the name of the program that makes file systems.
  if (fsType && !/^[\da-z]+$/.test(fsType))
    throw failed('MountDevice', `${JSON.stringify(fsType)} is not a type of file systems`)
  const target = localMountPath(name, work)
  await disk.makeDirectory(target, 0o750)
  try {
    await disk.mountDevice(path, fsType || defaultFileSystem, target, mountOptions, context.signal)
  } catch (error) {
    context.signal.throwIfAborted()
    throw failed('MountDevice', (error as Error).message, error)
  }
  await applyFsGroup(target, work, disk, context)
  return { path: target, readOnly: false, isNodePath: false }
}

/** Each pod mounts the device in its own directory; the kernel has it open only once. */
export const localMountPath = (name: string, work: PodVolume): string => directoryBeside(work, 'local-volume', name)

/** The volume as a device. Only existing block devices; no loop devices are created. */
export async function localDevice(name: string, path: string | undefined, disk: Disk): Promise<MountedVolume> {
  if (path === undefined)
    throw new DeviceError(
      `MapVolume.NewBlockVolumeMapper initialization failed for volume ${name} : only local volumes can be devices here`,
    )
  if ((await disk.kindOf(path)) !== 'block-device')
    throw new DeviceError(`MapVolume.SetUpDevice failed for volume ${name} : ${path} is not a block device`)
  return { path, readOnly: false, isBlock: true }
}
