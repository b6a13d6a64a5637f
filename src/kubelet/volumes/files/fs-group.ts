// fsGroup: the ownership of writable volumes.
import type { Context } from '../../../base/observability/context.ts'
import { TreeTooDeep, type Disk } from '../../../machine/disk/disk.ts'
import { VolumeError, type PodVolume } from '../contract/volume-type.ts'

/** With `OnRootMismatch` a volume whose root has the right group is not walked. */
export async function applyFsGroup(
  path: string,
  { pod, volume }: Pick<PodVolume, 'pod' | 'volume'>,
  disk: Disk,
  context: Context,
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
