// The status of a pod, computed from the state of the runtime as upstream does: phase, conditions, container statuses.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import type { RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { containerStatuses, finalStatuses, type ContainersInput } from './container-statuses.ts'
import { incompleteInit, podConditions } from './pod-conditions.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import { podPhase } from './pod-phase.ts'
import { outdatedContainers } from '../pod/restart-all.ts'
import { ownConditions } from './status-patch.ts'

export interface StatusInput extends ContainersInput {
  readonly hostIp: string
  readonly nowMs: number
  /** Why the kubelet terminates the pod, if it does. */
  readonly termination: PodTermination | undefined
}

export function podStatus(input: StatusInput): PodStatus {
  const { pod, running, hostIp, nowMs, termination } = input
  const { status, metadata } = pod
  if (termination?.isRejection) {
    const { reason, message } = termination
    return {
      ...status,
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      // The kubelet has determined none of its conditions; those of other clients are kept.
      conditions: (status.conditions ?? []).filter(({ type }) => !ownConditions.has(type)),
      startTime: status.startTime ?? rfc3339(nowMs),
      ...observedGeneration(metadata),
    }
  }
  const isRunning = running?.containers.some(({ state }) => state === 'running') ?? false
  // A final phase is only reported when no container runs any more, because a controller may then start a replacement.
  const isEnding = (metadata.deletionTimestamp !== undefined || termination !== undefined) && !isRunning
  const found = containerStatuses(input)
  const isTerminated = isEnding && termination !== undefined
  const old = outdatedContainers(pod, running)
  const phase = isTerminated ? 'Failed' : podPhase(pod, found, isEnding, old.length > 0)
  const isFinal = (phase === 'Succeeded' || phase === 'Failed') && !isRunning
  const statuses = isFinal ? finalStatuses(found, incompleteInit(pod, found).length === 0) : found
  const hasSandbox = running?.isReady ?? false
  const isRestarting = old.some(({ state }) => state === 'running')
  return {
    ...status,
    phase,
    ...(isTerminated ? { reason: termination.reason, message: termination.message } : {}),
    conditions: podConditions({ pod, phase, statuses, hasSandbox, isRestarting, termination, nowMs }),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...addressesOf(running, hostIp, pod),
    startTime: status.startTime ?? rfc3339(nowMs),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.main,
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: statuses.ephemeral }),
    ...observedGeneration(metadata),
  }
}

/** A pod from a manifest has no generation. */
const observedGeneration = ({ generation }: Pod['metadata']): Pick<PodStatus, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation }

/** A host network pod has the node's address. */
function addressesOf(running: RuntimePod | undefined, hostIp: string, { spec }: Pod): Partial<PodStatus> {
  const ips = spec.hostNetwork ? [hostIp] : (running?.ips ?? [])
  return running === undefined || ips[0] === undefined ? {} : { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }
}
