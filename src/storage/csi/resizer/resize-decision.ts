// How a resizer expands the volume of a claim: the decision from the claim and the volume, and the statuses that show the
// progress.
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimStatus,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { bytesText, storageBytes } from '../sidecar/quantities.ts'

export type ResizeDecision =
  | { readonly kind: 'none' }
  /** The volume must be expanded to this size. */
  | { readonly kind: 'expand'; readonly bytes: number }
  /** The volume is large enough; only the claim's status is behind. */
  | { readonly kind: 'finish'; readonly bytes: number }

export function decideResize(claim: PersistentVolumeClaim, volume: PersistentVolume): ResizeDecision {
  const { spec, status } = claim
  const requested = storageBytes(spec.resources?.requests)
  const current = storageBytes(status.capacity)
  const existing = storageBytes(volume.spec.capacity)
  const allocated = storageBytes(status.allocatedResources)
  const progress = status.allocatedResourceStatuses?.['storage']
  if (status.phase !== 'Bound' || requested <= current) return { kind: 'none' }
  if (isOnNode(progress) && existing >= requested) return { kind: 'none' }
  // An expansion in progress is completed before another size is tried. One that the driver has rejected for good is
  // replaced by the current request, which may be smaller: this is the recovery from a failure.
  const isUnfinished = progress === 'ControllerResizeInProgress' && allocated > existing
  const bytes = isUnfinished ? allocated : requested
  return existing >= bytes ? { kind: 'finish', bytes } : { kind: 'expand', bytes }
}

const isOnNode = (progress: string | undefined): boolean => progress?.startsWith('NodeResize') ?? false

/** Conditions that the resizer sets and removes. */
const resizeConditions = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError']

function conditionsWith(
  { conditions = [] }: PersistentVolumeClaimStatus,
  type: string | undefined,
  message: string,
  now: string,
): readonly PersistentVolumeClaimCondition[] {
  const others = conditions.filter((condition) => !resizeConditions.includes(condition.type))
  if (type === undefined) return others
  const before = conditions.find((condition) => condition.type === type)
  const lastTransitionTime = before?.lastTransitionTime ?? now
  return [...others, { type, status: 'True', lastTransitionTime, ...(message === '' ? {} : { message }) }]
}

/** A merge patch: null removes a field. */
export type StatusPatch = Readonly<Record<string, unknown>>

export const startedStatus = (status: PersistentVolumeClaimStatus, bytes: number, now: string): StatusPatch => ({
  allocatedResources: { storage: bytesText(bytes) },
  allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
  conditions: conditionsWith(status, 'Resizing', '', now),
})

export const failedStatus = (
  status: PersistentVolumeClaimStatus,
  message: string,
  isInfeasible: boolean,
  now: string,
): StatusPatch => ({
  ...(isInfeasible ? { allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' } } : {}),
  conditions: conditionsWith(status, 'ControllerResizeError', message, now),
})

/** The kubelet completes the expansion when a pod uses the volume. */
export const nodePendingStatus = (status: PersistentVolumeClaimStatus, now: string): StatusPatch => ({
  allocatedResourceStatuses: { storage: 'NodeResizePending' },
  conditions: conditionsWith(
    status,
    'FileSystemResizePending',
    'Waiting for user to (re-)start a pod to finish file system resize of volume on node.',
    now,
  ),
})

export const resizedStatus = (status: PersistentVolumeClaimStatus, bytes: number, now: string): StatusPatch => ({
  capacity: { storage: bytesText(bytes) },
  allocatedResources: { storage: bytesText(bytes) },
  allocatedResourceStatuses: { storage: null },
  conditions: conditionsWith(status, undefined, '', now),
})
