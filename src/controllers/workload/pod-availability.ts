// Availability over time: a pod that became ready counts only after `minReadySeconds`, so somebody must look again.
import { isPodReady, readyForMs } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'

/** How long until the next ready pod has been ready for long enough; undefined when none is on the way. */
export function availabilityWaitMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  const waits = pods
    .filter(isPodReady)
    .map((pod) => minReadySeconds * 1000 - readyForMs(pod, nowMs))
    .filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** The requeue of a plan that waits for availability, or for nothing. */
export const requeueAfter = (...waitsMs: (number | undefined)[]): { requeueAfterMs?: number } => {
  const known = waitsMs.filter((ms) => ms !== undefined)
  return known.length === 0 ? {} : { requeueAfterMs: Math.max(1, Math.min(...known)) }
}

/** Neither ended nor ending. */
export const isPodActive = ({ metadata, status: { phase } }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed'

/** On its way out, and still there. */
export const isPodTerminating = ({ metadata, status: { phase } }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && phase !== 'Succeeded' && phase !== 'Failed'
