// Preemption: selects victims on a node and ranks candidate nodes. Pure decisions.
import { leastOf } from '../../base/collections/extremes.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { matchesLabels, selectorOf } from '../../api/selectors/selectors.ts'
import type { FilterRun } from '../framework/framework.ts'
import type { PlacedPod } from '../snapshot/snapshot.ts'
import { rejection, type Rejection } from '../framework/verdicts.ts'

export interface Candidate {
  readonly slot: number
  /** Most important first. */
  readonly victims: readonly PlacedPod[]
  /** How many of them a disruption budget protects. */
  readonly violations: number
  /** Ranking criteria, most significant first; lower is better. */
  readonly ranks: readonly number[]
}

export type DryRun = Candidate | Rejection

export const noVictims = rejection('No preemption victims found for incoming pod', false)

const startOf = ({ pod }: PlacedPod): number =>
  pod.status.startTime === undefined ? Infinity : Date.parse(pod.status.startTime)

/** Higher priority first, then earlier start. */
export const byImportance = (a: PlacedPod, b: PlacedPod): number =>
  b.facts.priority - a.facts.priority || (startOf(a) === startOf(b) ? 0 : startOf(a) - startOf(b))

/** The minimal set of lower-priority pods that must leave the node. Pods that a budget protects are reprieved first. */
export function victimsOn(run: FilterRun, slot: number, budgets: readonly PodDisruptionBudget[]): DryRun {
  const { facts, snapshot } = run.cycle
  const lower = [...snapshot.podsOn(slot)].filter((placed) => placed.facts.priority < facts.priority)
  if (lower.length === 0) return noVictims
  const removed = new Set(lower)
  const remove = (placed: PlacedPod) => {
    run.removePod(placed)
    removed.add(placed)
  }
  const add = (placed: PlacedPod) => {
    run.addPod(placed)
    removed.delete(placed)
  }
  for (const placed of lower) run.removePod(placed)
  try {
    const refused = run.check(slot)
    if (refused !== undefined) return refused.rejection
    const { isProtected, others } = splitByBudgets(lower.toSorted(byImportance), budgets)
    const spare = (placed: PlacedPod): boolean => {
      add(placed)
      if (run.check(slot) === undefined) return true
      remove(placed)
      return false
    }
    const violations = isProtected.filter((placed) => !spare(placed)).length
    for (const placed of others) spare(placed)
    return candidate(slot, [...removed].toSorted(byImportance), violations)
  } finally {
    // A filter may throw. The snapshot outlives the cycle.
    for (const placed of removed) run.addPod(placed)
  }
}

/** Pods whose eviction violates a budget, given that all pods before them are evicted. */
function splitByBudgets(pods: readonly PlacedPod[], budgets: readonly PodDisruptionBudget[]) {
  const left = budgets.map(({ status }) => status.disruptionsAllowed ?? 0)
  const isProtected: PlacedPod[] = []
  const others: PlacedPod[] = []
  for (const placed of pods) {
    let violates = false
    for (const [index, budget] of budgets.entries()) {
      if (!covers(budget, placed.pod)) continue
      left[index] = (left[index] as number) - 1
      if (left[index] < 0) violates = true
    }
    ;(violates ? isProtected : others).push(placed)
  }
  return { isProtected, others }
}

function covers(budget: PodDisruptionBudget, pod: Pod): boolean {
  const selector = selectorOf(budget.spec.selector)
  return (
    selector !== undefined &&
    selector.length > 0 &&
    namespaceOf(budget) === namespaceOf(pod) &&
    matchesLabels(selector, pod.metadata.labels) &&
    lookup(budget.status.disruptedPods, pod.metadata.name) === undefined
  )
}

/** Makes every priority non-negative, so that each further victim increases the sum. */
const priorityOffset = 2 ** 31

/**
 * Fewest budget violations, then lowest highest priority, then lowest sum of priorities, then fewest victims, then
 * latest start.
 */
export function candidate(slot: number, victims: readonly PlacedPod[], violations: number): Candidate {
  const highest = victims[0]?.facts.priority ?? -Infinity
  const sum = victims.reduce((total, { facts }) => total + facts.priority + priorityOffset, 0)
  const foremost = victims.filter(({ facts }) => facts.priority === highest)
  const earliestStart = leastOf(foremost.map(startOf))
  return { slot, victims, violations, ranks: [violations, highest, sum, victims.length, -earliestStart] }
}

/** The first of the best candidates. */
export function bestCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let best = candidates[0]
  for (const each of candidates) if (best !== undefined && isBetter(each, best)) best = each
  return best
}

function isBetter({ ranks: a }: Candidate, { ranks: b }: Candidate): boolean {
  for (let index = 0; index < a.length; index++)
    if (a[index] !== b[index]) return (a[index] as number) < (b[index] as number)
  return false
}
