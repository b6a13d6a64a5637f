// The order of pod termination at a node shutdown: by priority, each group with its own grace period.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { criticalPriority } from '../eviction/eviction-ranking.ts'

/** The grace period of pods with at least this priority and less than that of the next period. */
export interface ShutdownPeriod {
  readonly priority: number
  readonly seconds: number
}

export interface ShutdownFlags {
  readonly graceMs: number
  /** The part of the grace period that is reserved for critical pods. */
  readonly criticalMs: number
  readonly byPriority: readonly ShutdownPeriod[]
}

/** Returns no periods when graceful shutdown is disabled. Throws when the flags are invalid. */
export function shutdownPeriods({ graceMs, criticalMs, byPriority }: ShutdownFlags): readonly ShutdownPeriod[] {
  if (byPriority.length > 0) {
    if (graceMs > 0 || criticalMs > 0)
      throw new Error('grace periods by pod priority and a common grace period cannot be combined')
    return byPriority.toSorted((a, b) => a.priority - b.priority)
  }
  for (const ms of [graceMs, criticalMs])
    if (ms > 0 && ms < 1_000) throw new Error('a shutdown grace period is either 0 or at least 1 s')
  if (criticalMs > graceMs) throw new Error('the grace period of critical pods must not exceed the total grace period')
  if (graceMs === 0) return []
  return [
    { priority: 0, seconds: Math.floor((graceMs - criticalMs) / 1000) },
    { priority: criticalPriority, seconds: Math.floor(criticalMs / 1000) },
  ]
}

export interface ShutdownGroup extends ShutdownPeriod {
  readonly pods: readonly Pod[]
}

/** Pods below the lowest period belong to the first group. Groups without pods are left out. */
export function shutdownGroups(pods: readonly Pod[], periods: readonly ShutdownPeriod[]): readonly ShutdownGroup[] {
  const periodOf = ({ spec }: Pod) => periods.findLast(({ priority }) => priority <= (spec.priority ?? 0)) ?? periods[0]
  return periods
    .map((period) => ({ ...period, pods: pods.filter((pod) => periodOf(pod) === period) }))
    .filter((group) => group.pods.length > 0)
}
