// How long a pod may be active on its node.
import type { Pod } from '../../api/core/v1/pod/pod.ts'

/** When the pod's time is over; undefined when it has no end, or has not begun. */
export const deadlineOf = ({ spec, status }: Pod): number | undefined =>
  spec.activeDeadlineSeconds === undefined || status.startTime === undefined
    ? undefined
    : Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000

export const hasExpired = (pod: Pod, nowMs: number): boolean => (deadlineOf(pod) ?? Infinity) <= nowMs
