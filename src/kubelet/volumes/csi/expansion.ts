// Expansion on the node: the file system of a volume that has grown is grown by its driver, and the claim then shows the
// new capacity.
import { rfc3339 } from '../../../base/time/clock.ts'
import type { Context } from '../../../base/observability/context.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import type { Client } from '../../../client/client.ts'
import type { EventRecorder } from '../../../client/events/event-recorder.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import { FormattedVolumeError, type VolumeSources } from '../types/volume-type.ts'
import { volumeCapability, type NodeCapabilities } from './capability.ts'
import { CsiCallError, type CsiCalls } from './csi-calls.ts'
import { csiSecrets } from './csi-secrets.ts'
import type { CsiVolume } from './csi-volume.ts'

export interface ExpansionDeps {
  readonly calls: CsiCalls
  readonly sources: VolumeSources
  readonly client: Client
  readonly events: EventRecorder
  readonly nodeName: string
  readonly nowMs: () => number
}

export interface ExpansionInput {
  readonly pod: Pod
  readonly volume: CsiVolume
  readonly persistentVolume: PersistentVolume
  readonly claim: PersistentVolumeClaim
  readonly capabilities: NodeCapabilities
  readonly volumePath: string
  readonly stagingPath: string
}

const storage = 'storage'
const inProgress = 'NodeResizeInProgress'
const infeasible = 'NodeResizeInfeasible'
const resizeConditions = new Set(['FileSystemResizePending', 'Resizing', 'NodeResizeError'])
/** Codes by which a driver refuses an expansion for good. */
const infeasibleCodes = new Set(['INVALID_ARGUMENT', 'NOT_FOUND', 'OUT_OF_RANGE'])

/** Whether the volume is larger than its claim shows. */
export function needsExpansion(
  { spec }: Pick<PersistentVolume, 'spec'>,
  { status }: Pick<PersistentVolumeClaim, 'status'>,
): boolean {
  const [actual, shown] = [spec.capacity?.[storage], status.capacity?.[storage]]
  if (actual === undefined || shown === undefined || status.allocatedResourceStatuses?.[storage] === infeasible)
    return false
  return quantityUnits(actual) > quantityUnits(shown)
}

/** The status of the claim after its file system was expanded. */
export function expandedStatus(
  status: PersistentVolumeClaim['status'],
  capacity: string,
): PersistentVolumeClaim['status'] {
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

export async function expand(deps: ExpansionDeps, input: ExpansionInput, context: Context): Promise<void> {
  const { events, nodeName } = deps
  const { pod, volume, claim, capabilities, persistentVolume } = input
  if (!capabilities.has('EXPAND_VOLUME') || volume.readOnly) return
  const capacity = persistentVolume.spec.capacity?.[storage] ?? '0'
  await updateClaim(deps, claim, (status) => withResizeStatus(status, inProgress), context)
  try {
    await callDriver(deps, input, quantityUnits(capacity), context)
  } catch (error) {
    if (!(error instanceof CsiCallError)) throw error
    // The driver cannot expand a volume that is in use; it is expanded when it is mounted the next time.
    if (error.code === 'FAILED_PRECONDITION') return
    const message = `MountVolume.NodeExpandVolume failed for volume ${JSON.stringify(volume.specName)} : ${error.message}`
    events.record(claim, { type: 'Warning', reason: 'VolumeResizeFailed', message }, context)
    if (infeasibleCodes.has(error.code)) {
      await updateClaim(deps, claim, (status) => withResizeStatus(status, infeasible), context)
      return
    }
    if (error.isFinal) await updateClaim(deps, claim, (status) => withResizeError(status, error.message, deps), context)
    throw new FormattedVolumeError(message)
  }
  await updateClaim(deps, claim, (status) => expandedStatus(status, capacity), context)
  const message = `MountVolume.NodeExpandVolume succeeded for volume ${JSON.stringify(volume.specName)} ${nodeName}`
  for (const object of [pod, claim])
    events.record(object, { type: 'Normal', reason: 'FileSystemResizeSuccessful', message }, context)
}

async function callDriver(
  { calls, sources }: ExpansionDeps,
  { volume, capabilities, volumePath, stagingPath }: ExpansionInput,
  requiredBytes: number,
  context: Context,
): Promise<void> {
  const secrets = await csiSecrets(sources, volume.expandSecret, 'NodeExpandSecretRef', context)
  const request = {
    ...{ volumeId: volume.handle, volumePath, stagingTargetPath: stagingPath, secrets },
    capacityRange: { requiredBytes },
    volumeCapability: volumeCapability(volume, capabilities, undefined),
  }
  const client = 'Expander.NodeExpand failed to create newCsiDriverClient'
  await calls.call(volume.driver, client, nodeService.nodeExpandVolume, request, context)
}

type ClaimStatus = PersistentVolumeClaim['status']

const withResizeStatus = (status: ClaimStatus, progress: string): ClaimStatus => ({
  ...status,
  allocatedResourceStatuses: { ...status.allocatedResourceStatuses, [storage]: progress },
})

const withResizeError = (status: ClaimStatus, message: string, { nowMs }: ExpansionDeps): ClaimStatus => ({
  ...status,
  conditions: [
    ...(status.conditions ?? []).filter(({ type }) => type !== 'NodeResizeError'),
    { type: 'NodeResizeError', status: 'True', lastTransitionTime: rfc3339(nowMs()), message },
  ],
})

/** The claim is read again, because a controller may have changed it meanwhile; a conflict is retried with the mount. */
async function updateClaim(
  { client }: ExpansionDeps,
  claim: PersistentVolumeClaim,
  change: (status: ClaimStatus) => ClaimStatus,
  context: Context,
): Promise<void> {
  const claims = client.of(persistentVolumeClaim)
  const current = await claims.get(claim.metadata.name, namespaceOf(claim), context)
  await claims.updateStatus({ ...current, status: change(current.status) }, context)
}
