// What can be read from a pod's status: ready, available, finished, and the words kubectl shows for it.
import type { ApiObject } from '../../object.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodCondition, PodStatus } from './pod-status.ts'

/** The parts of a Pod that are read here; the kind's own file reads them through this one. */
interface Pod extends ApiObject {
  readonly spec: PodSpec
  readonly status: PodStatus
}

export const podCondition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type)

export const isPodReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True'

export const isPodFinished = ({ status: { phase } }: Pod): boolean => phase === 'Succeeded' || phase === 'Failed'

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  return isPodReady(pod) && readyForMs(pod, nowMs) >= minReadySeconds * 1000
}

export function readyForMs(pod: Pod, nowMs: number): number {
  const since = podCondition(pod, 'Ready')?.lastTransitionTime
  return !since ? 0 : nowMs - Date.parse(since)
}

/** The STATUS column: the most telling of phase, reason and container states. */
export function podStatusText(pod: Pod): string {
  const { status, metadata } = pod
  if (metadata.deletionTimestamp !== undefined && status.reason === 'NodeLost') return 'Unknown'
  if (metadata.deletionTimestamp !== undefined && !isPodFinished(pod)) return 'Terminating'
  const isGated = podCondition(pod, 'PodScheduled')?.reason === schedulingGated
  let text = isGated ? schedulingGated : (status.reason ?? status.phase ?? 'Unknown')
  let anyRunning = false
  for (const { state = {}, ready } of (status.containerStatuses ?? []).toReversed()) {
    if (state.waiting?.reason) text = state.waiting.reason
    else if (state.terminated !== undefined)
      text =
        state.terminated.reason ||
        (state.terminated.signal ? `Signal:${state.terminated.signal}` : `ExitCode:${state.terminated.exitCode}`)
    else if (ready && state.running !== undefined) anyRunning = true
  }
  if (text === 'Completed' && anyRunning) return isPodReady(pod) ? 'Running' : 'NotReady'
  return text
}

export const podRestarts = ({ status }: Pod): number =>
  (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)

export const podReadyText = ({ spec, status }: Pod): string =>
  `${(status.containerStatuses ?? []).filter(({ ready, state }) => ready && state?.running).length}/${spec.containers.length}`

/** How many of the conditions that the pod waits for are true. */
export function podGatesText(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => podCondition(pod, conditionType)?.status === 'True')
  return `${open.length}/${gates.length}`
}

const schedulingGated = 'SchedulingGated'

/** What a pod with gates says of itself from the beginning. */
export const gatedCondition = (since: string | undefined): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  reason: schedulingGated,
  message: 'Scheduling is blocked due to non-empty scheduling gates',
  ...(since !== undefined && { lastTransitionTime: since }),
})
