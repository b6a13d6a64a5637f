// Pod availability: a ready pod is available after `minReadySeconds`, so a plan has to be repeated then.
import { leastOf } from '../../base/collections/extremes.ts'
import { isPodReady, readyForMs } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'

/** How long until the next ready pod becomes available; undefined when all are, or none is ready. */
export function availabilityWaitMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  if (minReadySeconds === 0) return undefined
  const waits = pods
    .filter(isPodReady)
    .map((pod) => minReadySeconds * 1000 - readyForMs(pod, nowMs))
    .filter((ms) => ms > 0)
  return waits.length === 0 ? undefined : leastOf(waits)
}

/** The shortest of the given waits, as part of a plan. */
export const requeueAfter = (...waitsMs: (number | undefined)[]): { requeueAfterMs?: number } => {
  const known = waitsMs.filter((ms) => ms !== undefined)
  return known.length === 0 ? {} : { requeueAfterMs: Math.max(1, Math.min(...known)) }
}

/** Neither finished nor being deleted. */
export const isPodActive = ({ metadata, status: { phase } }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed'

/** Being deleted and not finished. */
export const isPodTerminating = ({ metadata, status: { phase } }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && phase !== 'Succeeded' && phase !== 'Failed'
