// expandLocal: the file system of a `local` volume grows with its device, and the claim then shows the new capacity. A
// directory has no file system of its own, so only the claim changes.
import type { Context } from '../../../base/observability/context.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import { expandedStatus, needsExpansion, recordExpansion, storage, updateClaim } from './claim-expansion.ts'
import { localMountPath } from './local.ts'
import {
  FormattedVolumeError,
  ResizeError,
  type BoundVolume,
  type PodVolume,
  type VolumeDeps,
} from '../contract/volume-type.ts'

/** Does nothing where the claim shows the capacity of the volume. */
export async function expandLocal(
  { claim, volume }: Pick<BoundVolume, 'claim' | 'volume'>,
  during: 'mount' | 'recheck',
  work: PodVolume,
  { claims, disk }: Pick<VolumeDeps, 'claims' | 'disk'>,
  context: Context,
): Promise<void> {
  const { name: volumeName } = volume.metadata
  const capacity = volume.spec.capacity?.[storage]
  if (claims === undefined || capacity === undefined || !needsExpansion(volume, claim)) return
  try {
    await growFileSystem(volume, work, disk, context.signal)
  } catch (error) {
    context.signal.throwIfAborted()
    const why = `failed for volume ${JSON.stringify(volumeName)} : ${(error as Error).message}`
    throw during === 'recheck'
      ? new ResizeError(`NodeExpandVolume.NodeExpandVolume ${why}`, { cause: error })
      : new FormattedVolumeError(`MountVolume.NodeExpandVolume ${why}`, { cause: error })
  }
  await updateClaim(claims, claim, (status) => expandedStatus(status, capacity), context)
  recordExpansion(claims, { pod: work.pod, claim, volumeName }, context)
}

async function growFileSystem(
  { metadata, spec }: PersistentVolume,
  work: PodVolume,
  disk: Disk,
  signal: AbortSignal,
): Promise<void> {
  const { local, volumeMode } = spec
  if (local === undefined || volumeMode === 'Block' || (await disk.kindOf(local.path)) !== 'block-device') return
  await disk.growFileSystem(local.path, localMountPath(metadata.name, work), signal)
}
