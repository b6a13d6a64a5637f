// Scaling rules: how recent recommendations and changes limit the next one. Without a behavior, scaling down is delayed by
// the controller's window and scaling up at most doubles the replicas.
import { greatestOf, leastOf } from '../../base/collections/extremes.ts'
import type { HPAScalingRules, HorizontalPodAutoscalerSpec } from '../../api/autoscaling/v2/autoscaler-spec.ts'

export interface Recommendation {
  readonly replicas: number
  readonly atMs: number
}

/** What the controller remembers of an autoscaler between decisions. It is not persisted. */
export interface AutoscalerMemory {
  readonly recommendations: readonly Recommendation[]
  /** Changes by a decision: positive when replicas were added. */
  readonly changes: readonly Recommendation[]
}

export const noMemory: AutoscalerMemory = { recommendations: [], changes: [] }

/** Without a behavior, scaling up to this number is always allowed. */
const scaleUpReplicasMin = 4
/** The longest period of a policy. Older changes are forgotten. */
const periodMsMax = 1_800_000

export type Limits = Pick<HorizontalPodAutoscalerSpec, 'minReplicas' | 'maxReplicas' | 'behavior'>

export interface Scaling {
  readonly current: number
  readonly nowMs: number
  readonly memory: AutoscalerMemory
  readonly limits: Limits
  readonly downscaleStabilizationMs: number
}

interface Reasoned {
  readonly replicas: number
  readonly reason: string
  readonly message: string
}

export interface Stabilized extends Reasoned {
  readonly recommendations: readonly Recommendation[]
}

const lowered = 'recent recommendations were lower than current one, applying the lowest recent recommendation'
const raised = 'recent recommendations were higher than current one, applying the highest recent recommendation'
const matches = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }

/** The recommendation that the recent ones allow, and the recommendations to remember. */
export function stabilize(desired: number, scaling: Scaling): Stabilized {
  const { current, nowMs, memory, limits, downscaleStabilizationMs } = scaling
  const { behavior } = limits
  const upMs = (behavior?.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000
  const downMs = secondsToMs(behavior?.scaleDown?.stabilizationWindowSeconds) ?? downscaleStabilizationMs
  let lowest = desired
  let highest = desired
  for (const { replicas, atMs } of memory.recommendations) {
    if (atMs > nowMs - upMs) lowest = Math.min(lowest, replicas)
    if (atMs > nowMs - downMs) highest = Math.max(highest, replicas)
  }
  const replicas = behavior === undefined ? highest : Math.min(Math.max(current, lowest), highest)
  const oldestMs = nowMs - Math.max(upMs, downMs, downscaleStabilizationMs)
  const recommendations = [...relevant(memory.recommendations, desired, oldestMs), { replicas: desired, atMs: nowMs }]
  if (replicas === desired) return { replicas, ...matches, recommendations }
  return behavior !== undefined && desired >= current
    ? { replicas, reason: 'ScaleUpStabilized', message: lowered, recommendations }
    : { replicas, reason: 'ScaleDownStabilized', message: raised, recommendations }
}

/**
 * The recommendations that a later decision may use. A window that contains an earlier one of two equal recommendations
 * contains the later one, too, so the last one is left out if it equals the new one.
 */
function relevant(recommendations: readonly Recommendation[], next: number, afterMs: number): Recommendation[] {
  const recent = recommendations.filter(({ atMs }) => atMs > afterMs)
  if (recent.at(-1)?.replicas === next) recent.pop()
  return recent
}

const secondsToMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000

const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const tooFew = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' }
const tooFast = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const tooFastDown = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

/** The number of replicas that the minimum, the maximum and the rate allow. */
export function limitRate(desired: number, { current, nowMs, memory, limits }: Scaling): Reasoned {
  const { minReplicas, maxReplicas, behavior } = limits
  const { scaleUp, scaleDown } = behavior ?? {}
  const upMost =
    scaleUp === undefined
      ? Math.max(2 * current, scaleUpReplicasMin)
      : Math.max(current, rateLimit(scaleUp, 'up', current, memory, nowMs))
  const downMost =
    scaleDown === undefined ? -Infinity : Math.min(current, rateLimit(scaleDown, 'down', current, memory, nowMs))
  if (desired > Math.min(upMost, maxReplicas) && (behavior === undefined || desired > current))
    return upMost < maxReplicas ? { replicas: upMost, ...tooFast } : { replicas: maxReplicas, ...tooMany }
  if (desired < Math.max(downMost, minReplicas) && (behavior === undefined || desired < current))
    return downMost > minReplicas ? { replicas: downMost, ...tooFastDown } : { replicas: minReplicas, ...tooFew }
  return { replicas: desired, ...withinRange }
}

/** The most extreme number of replicas that the policies allow. */
function rateLimit(
  { policies = [], selectPolicy }: HPAScalingRules,
  direction: 'up' | 'down',
  current: number,
  { changes }: AutoscalerMemory,
  nowMs: number,
): number {
  if (selectPolicy === 'Disabled') return current
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const recent = changes.filter(({ atMs }) => atMs > nowMs - periodSeconds * 1000)
    const atStart = recent.reduce((replicas, change) => replicas - change.replicas, current)
    if (direction === 'up') return type === 'Pods' ? atStart + value : Math.ceil(atStart * (1 + value / 100))
    return type === 'Pods' ? atStart - value : Math.trunc(atStart * (1 - value / 100))
  })
  return (selectPolicy === 'Min') === (direction === 'up') ? leastOf(limits) : greatestOf(limits)
}

/** The memory after a change, which only policies use. */
export const withChange = (
  memory: AutoscalerMemory,
  change: number,
  { behavior }: Limits,
  nowMs: number,
): AutoscalerMemory =>
  behavior === undefined
    ? memory
    : {
        ...memory,
        changes: [
          ...memory.changes.filter(({ atMs }) => atMs > nowMs - periodMsMax),
          { replicas: change, atMs: nowMs },
        ],
      }
