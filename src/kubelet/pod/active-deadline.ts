// The active deadline of pods.
import type { Pod } from '../../api/core/v1/pod/pod.ts'

/** The time of the deadline; undefined when the pod has none or has not started. */
export const deadlineOf = ({ spec, status }: Pod): number | undefined =>
  spec.activeDeadlineSeconds === undefined || status.startTime === undefined
    ? undefined
    : Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000

export const hasExpired = (pod: Pod, nowMs: number): boolean => (deadlineOf(pod) ?? Infinity) <= nowMs
