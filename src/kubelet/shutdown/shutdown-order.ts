// In which order pods end when their node goes down: the less important ones first, each group within its own time.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { criticalPriority } from '../eviction/eviction-ranking.ts'

/** Pods of this priority or more, up to the next period's, get so long. */
export interface ShutdownPeriod {
  readonly priority: number
  readonly seconds: number
}

export interface ShutdownFlags {
  readonly graceMs: number
  /** The part of it that is kept for what the node itself depends on. */
  readonly criticalMs: number
  readonly byPriority: readonly ShutdownPeriod[]
}

/** No periods: pods are not ended. Throws with what is wrong. */
export function shutdownPeriods({ graceMs, criticalMs, byPriority }: ShutdownFlags): readonly ShutdownPeriod[] {
  if (byPriority.length > 0) {
    if (graceMs > 0 || criticalMs > 0)
      throw new Error('periods by priority and one period for all cannot be said at the same time')
    return byPriority.toSorted((a, b) => a.priority - b.priority)
  }
  for (const ms of [graceMs, criticalMs])
    if (ms > 0 && ms < 1_000) throw new Error('a period is either zero or at least one second')
  if (criticalMs > graceMs) throw new Error('the period of critical pods is a part of the whole, and not longer')
  if (graceMs === 0) return []
  return [
    { priority: 0, seconds: Math.floor((graceMs - criticalMs) / 1000) },
    { priority: criticalPriority, seconds: Math.floor(criticalMs / 1000) },
  ]
}

export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly Pod[]
}

/** Who is less important than all periods say goes with the first. Groups without pods take no time. */
export function shutdownGroups(pods: readonly Pod[], periods: readonly ShutdownPeriod[]): readonly ShutdownGroup[] {
  const periodOf = ({ spec }: Pod) => periods.findLast(({ priority }) => priority <= (spec.priority ?? 0)) ?? periods[0]
  return periods
    .map((period) => ({ ...period, pods: pods.filter((pod) => periodOf(pod) === period) }))
    .filter((group) => group.pods.length > 0)
}
