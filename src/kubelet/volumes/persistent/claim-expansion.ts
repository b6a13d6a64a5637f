// Expansion of a claim on the node: whether its volume has grown, and what the claim and the events show afterwards. How the
// file system is grown depends on the type of the volume.
import type { Context } from '../../../base/observability/context.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import type { ClaimDeps } from '../contract/volume-type.ts'

export type ClaimStatus = PersistentVolumeClaim['status']

export const storage = 'storage'
export const infeasible = 'NodeResizeInfeasible'
const resizeConditions = new Set(['FileSystemResizePending', 'Resizing', 'NodeResizeError'])

/** Whether the volume is larger than its claim shows. */
export function needsExpansion(
  { spec }: Pick<PersistentVolume, 'spec'>,
  { status }: Pick<PersistentVolumeClaim, 'status'>,
): boolean {
  const actual = spec.capacity?.[storage]
  const shown = status.capacity?.[storage]
  if (actual === undefined || shown === undefined || status.allocatedResourceStatuses?.[storage] === infeasible)
    return false
  return quantityUnits(actual) > quantityUnits(shown)
}

/** The status of the claim after its file system was expanded. */
export function expandedStatus(status: ClaimStatus, capacity: string): ClaimStatus {
  const { allocatedResourceStatuses = {}, conditions = [], ...rest } = status
  const statuses = Object.entries(allocatedResourceStatuses).filter(([resource]) => resource !== storage)
  const left = conditions.filter(({ type }) => !resizeConditions.has(type))
  return {
    ...rest,
    capacity: { ...status.capacity, [storage]: capacity },
    ...(statuses.length === 0 ? {} : { allocatedResourceStatuses: Object.fromEntries(statuses) }),
    ...(left.length === 0 ? {} : { conditions: left }),
  }
}

/** The claim is read again, because a controller may have changed it meanwhile; a conflict is retried with the mount. */
export async function updateClaim(
  { client }: Pick<ClaimDeps, 'client'>,
  claim: PersistentVolumeClaim,
  change: (status: ClaimStatus) => ClaimStatus,
  context: Context,
): Promise<void> {
  const claims = client.of(persistentVolumeClaim)
  const current = await claims.get(claim.metadata.name, namespaceOf(claim), context)
  await claims.updateStatus({ ...current, status: change(current.status) }, context)
}

interface Expanded {
  readonly pod: Pod
  readonly claim: PersistentVolumeClaim
  readonly volumeName: string
}

/** The events of a successful expansion. */
export function recordExpansion(
  { events, nodeName }: Pick<ClaimDeps, 'events' | 'nodeName'>,
  { pod, claim, volumeName }: Expanded,
  context: Context,
): void {
  const message = `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(volumeName)} ${nodeName}`
  for (const object of [pod, claim])
    events.record(object, { type: 'Normal', reason: 'FileSystemResizeSuccessful', message }, context)
}
