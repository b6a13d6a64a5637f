// expandLocal: the file system of a `local` volume grows with its device, and the claim then shows the new capacity. A
// directory has no file system of its own, so only the claim changes.
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { expandedStatus, needsExpansion, recordExpansion, storage, updateClaim } from './claim-expansion.ts'
import { localMountPath } from './local.ts'
import { FormattedVolumeError, ResizeError, type VolumeMountInput } from '../contract/volume-type.ts'

/** Does nothing where the claim shows the capacity of the volume. */
export async function expandLocal(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  work: VolumeMountInput,
): Promise<void> {
  const { claims, pod, context } = work
  const { name: volumeName } = volume.metadata
  const capacity = volume.spec.capacity?.[storage]
  if (claims === undefined || capacity === undefined || !needsExpansion(volume, claim)) return
  try {
    await growFileSystem(volume, work)
  } catch (error) {
    context.signal.throwIfAborted()
    const why = `failed for volume ${JSON.stringify(volumeName)} : ${(error as Error).message}`
    throw work.isRecheck
      ? new ResizeError(`NodeExpandVolume.NodeExpandVolume ${why}`, { cause: error })
      : new FormattedVolumeError(`MountVolume.NodeExpandVolume ${why}`, { cause: error })
  }
  await updateClaim(claims, claim, (status) => expandedStatus(status, capacity), context)
  recordExpansion(claims, { pod, claim, volumeName }, context)
}

async function growFileSystem({ metadata, spec }: PersistentVolume, work: VolumeMountInput): Promise<void> {
  const { disk, context } = work
  const { local, volumeMode } = spec
  if (local === undefined || volumeMode === 'Block' || (await disk.kindOf(local.path)) !== 'block-device') return
  await disk.growFileSystem(local.path, localMountPath(metadata.name, work), context.signal)
}
