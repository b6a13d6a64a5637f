// What follows from a pod's status: ready, available, finished.
import type { ApiObject } from '../../../meta/object.ts'
import type { PodSpec } from '../pod-spec/pod-spec.ts'
import type { PodCondition, PodStatus } from './pod-status.ts'

/** The fields of a Pod that are read here. The kind's own file imports this one. */
export interface PodSpecAndStatus extends ApiObject {
  readonly spec: PodSpec
  readonly status: PodStatus
}

export const podCondition = ({ status }: PodSpecAndStatus, type: string): PodCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type)

export const isPodReady = (pod: PodSpecAndStatus): boolean => podCondition(pod, 'Ready')?.status === 'True'

export const isPodFinished = ({ status: { phase } }: PodSpecAndStatus): boolean =>
  phase === 'Succeeded' || phase === 'Failed'

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: PodSpecAndStatus, minReadySeconds: number, nowMs: number): boolean {
  return isPodReady(pod) && readyForMs(pod, nowMs) >= minReadySeconds * 1000
}

export function readyForMs(pod: PodSpecAndStatus, nowMs: number): number {
  const since = podCondition(pod, 'Ready')?.lastTransitionTime
  return !since ? 0 : nowMs - Date.parse(since)
}

export const podRestarts = ({ status }: PodSpecAndStatus): number =>
  (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0)

export const schedulingGated = 'SchedulingGated'

/** The initial condition of a pod with scheduling gates. */
export const gatedCondition = (since: string | undefined): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  reason: schedulingGated,
  message: 'Scheduling is blocked due to non-empty scheduling gates',
  ...(since !== undefined && { lastTransitionTime: since }),
})
