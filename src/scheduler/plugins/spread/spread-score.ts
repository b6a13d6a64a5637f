// Preferred spreading: fewer matching pods in a node's domains score higher, weighted by the number of domains.
import { scoreMax, type Cycle } from '../../framework/framework.ts'
import { noDomain } from '../../snapshot/topology.ts'
import { hostnameKey, inclusion, meantPods, type Constraint } from './spread-constraint.ts'

interface ScoredConstraint {
  readonly maxSkew: number
  readonly weight: number
  readonly domains: Float64Array
  /** Pods by node slot for the hostname key, by domain otherwise. */
  readonly pods: Int32Array | readonly (number | undefined)[]
  readonly isHost: boolean
}

export interface SpreadScoring {
  readonly constraints: readonly ScoredConstraint[]
  /** Nodes without all topology keys are not counted and score 0. */
  readonly isIgnored: (slot: number) => boolean
}

export function prepareSpread(
  cycle: Cycle,
  slots: Int32Array,
  constraints: readonly Constraint[],
  needsAllKeys: boolean,
): SpreadScoring {
  const { domains, hasAllKeys, includes } = inclusion(cycle, constraints)
  const isIgnored = (slot: number) => needsAllKeys && hasAllKeys[slot] === 0
  let ignoredCount = 0
  for (const slot of slots) if (isIgnored(slot)) ignoredCount++
  const scored = constraints.map((constraint, index): ScoredConstraint => {
    const column = domains[index] as Float64Array
    const counts = meantPods(cycle, constraint)
    const { maxSkew, topologyKey } = constraint
    if (topologyKey === hostnameKey) {
      const weight = Math.log(slots.length - ignoredCount + 2)
      return { maxSkew, weight, domains: column, pods: counts, isHost: true }
    }
    const pods: (number | undefined)[] = []
    let size = 0
    for (const slot of slots) {
      const domain = isIgnored(slot) ? noDomain : (column[slot] as number)
      if (domain === noDomain || pods[domain] !== undefined) continue
      pods[domain] = 0
      size++
    }
    const { order } = cycle.snapshot
    for (let at = 0; at < order.length; at++) {
      const slot = order[at] as number
      const domain = column[slot] as number
      const before = domain === noDomain || isIgnored(slot) ? undefined : pods[domain]
      if (before !== undefined && includes(constraint, slot)) pods[domain] = before + (counts[slot] as number)
    }
    return { maxSkew, weight: Math.log(size + 2), domains: column, pods, isHost: false }
  })
  return { constraints: scored, isIgnored }
}

export function spreadScore({ constraints, isIgnored }: SpreadScoring, slot: number): number {
  if (isIgnored(slot)) return 0
  let sum = 0
  for (const { maxSkew, weight, domains, pods, isHost } of constraints) {
    const domain = domains[slot] as number
    if (domain !== noDomain) sum += (pods[isHost ? slot : domain] ?? 0) * weight + (maxSkew - 1)
  }
  return Math.round(sum)
}

export function normalizeSpread(scores: Float64Array, { isIgnored }: SpreadScoring, slots: Int32Array): void {
  let least = Infinity
  let most = 0
  for (let index = 0; index < slots.length; index++) {
    if (isIgnored(slots[index] as number)) continue
    least = Math.min(least, scores[index] as number)
    most = Math.max(most, scores[index] as number)
  }
  for (let index = 0; index < slots.length; index++) {
    if (isIgnored(slots[index] as number)) scores[index] = 0
    else if (most === 0) scores[index] = scoreMax
    else scores[index] = Math.floor((scoreMax * (most + least - (scores[index] as number))) / most)
  }
}
