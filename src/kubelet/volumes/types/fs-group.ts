// A volume that containers write to belongs to the pod's group, where the pod has one.
import { TreeTooDeep } from '../../../machine/disk/disk.ts'
import { VolumeError, type VolumeMountInput } from './volume-type.ts'

/** With `OnRootMismatch` a volume whose own folder is right is taken to be right: large ones are not walked each time. */
export async function applyFsGroup(
  path: string,
  { pod, volume, disk, context }: Pick<VolumeMountInput, 'pod' | 'volume' | 'disk' | 'context'>,
): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {}
  if (fsGroup === undefined) return
  if (fsGroupChangePolicy === 'OnRootMismatch' && (await disk.hasGroup(path, fsGroup))) return
  try {
    await disk.changeGroup(path, fsGroup, context.signal)
  } catch (error) {
    if (!(error instanceof TreeTooDeep)) throw error
    throw new VolumeError(`applyFSGroup failed for vol ${volume.name}: ${error.message}`)
  }
}
