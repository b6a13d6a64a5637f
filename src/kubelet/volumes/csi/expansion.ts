// Expansion on the node: the file system of a volume that has grown is grown by its driver, and the claim then shows the
// new capacity.
import { rfc3339 } from '../../../base/time/clock.ts'
import type { Context } from '../../../base/observability/context.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import { nodeService } from '../../../machine/csi/methods.ts'
import {
  expandedStatus,
  infeasible,
  recordExpansion,
  storage,
  updateClaim,
  type ClaimStatus,
} from '../persistent/claim-expansion.ts'
import { FormattedVolumeError, type VolumeSources, type ClaimDeps } from '../contract/volume-type.ts'
import { volumeCapability, type NodeCapabilities } from './capability.ts'
import { CsiCallError, type CsiCalls } from './csi-calls.ts'
import { csiSecrets } from './csi-secrets.ts'
import type { CsiVolume } from './csi-volume.ts'

export interface ExpansionDeps extends ClaimDeps {
  readonly calls: CsiCalls
  readonly sources: VolumeSources
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

const inProgress = 'NodeResizeInProgress'
/** Codes by which a driver refuses an expansion for good. */
const infeasibleCodes = new Set(['INVALID_ARGUMENT', 'NOT_FOUND', 'OUT_OF_RANGE'])

export async function expand(deps: ExpansionDeps, input: ExpansionInput, context: Context): Promise<void> {
  const { events } = deps
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
  recordExpansion(deps, { pod, claim, volumeName: volume.specName }, context)
}

async function callDriver(
  { calls, sources }: ExpansionDeps,
  { volume, capabilities, volumePath, stagingPath }: ExpansionInput,
  requiredBytes: number,
  context: Context,
): Promise<void> {
  const secrets = await csiSecrets(sources, volume.expandSecret, 'NodeExpandSecretRef', context)
  const request = {
    volumeId: volume.handle,
    volumePath,
    stagingTargetPath: stagingPath,
    secrets,
    capacityRange: { requiredBytes },
    volumeCapability: volumeCapability(volume, capabilities, undefined),
  }
  const client = 'Expander.NodeExpand failed to create newCsiDriverClient'
  await calls.call(volume.driver, client, nodeService.nodeExpandVolume, request, context)
}

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
