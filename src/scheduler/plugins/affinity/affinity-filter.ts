// Required affinity and anti-affinity: matching pods per topology domain.
import type { Cycle } from '../../framework/framework.ts'
import { termMatches, type AffinityTerm } from '../../snapshot/affinity-term.ts'
import type { PlacedPod, Snapshot } from '../../snapshot/snapshot.ts'
import { noDomain } from '../../snapshot/topology.ts'

interface TermTally {
  readonly term: AffinityTerm
  readonly domains: Float64Array
  readonly pods: (number | undefined)[]
}

export interface AffinityTally {
  /** Pods that match every affinity term, by the domain of each term. */
  readonly affinityTallies: readonly TermTally[]
  /** Total number of matching pods. If there are none, a pod that matches its own terms may be the first. */
  affinityCount: number
  readonly matchesItself: boolean
  /** Pods that match an anti-affinity term. */
  readonly antiAffinityTallies: readonly TermTally[]
  /** By topology key: pods whose anti-affinity matches this pod. */
  readonly existingAntiAffinityTallies: Map<string, TermTally>
}

const meansAll = (terms: readonly AffinityTerm[], pod: PlacedPod['pod'], { namespaces }: Snapshot): boolean =>
  terms.every((term) => termMatches(term, pod, namespaces))

/** Undefined when neither this pod nor an existing pod has required terms. */
export function tallyAffinity(cycle: Cycle): AffinityTally | undefined {
  const { facts, snapshot, pod } = cycle
  const { affinity, antiAffinity } = facts
  const existingAntiAffinityTallies = new Map<string, TermTally>()
  for (const { term, holders } of snapshot.terms.of('antiAffinity'))
    if (termMatches(term, pod, snapshot.namespaces)) {
      const { domains, pods } = tallyOf(snapshot, existingAntiAffinityTallies, term)
      for (const [slot, count] of holders) addTo(pods, domains[slot] as number, count)
    }
  if (affinity.length === 0 && antiAffinity.length === 0 && existingAntiAffinityTallies.size === 0) return undefined
  const affinityKey = `affinity ${affinity.map(({ key }) => key).join(' ')}`
  const affinityTallies =
    affinity.length === 0 ? undefined : snapshot.counts.of(affinityKey, (other) => meansAll(affinity, other, snapshot))
  let affinityCount = 0
  const friendTallies = affinity.map((term) => sumUp(snapshot, term, affinityTallies ?? new Int32Array()))
  for (const { pods } of friendTallies) for (const count of pods) affinityCount += count ?? 0
  return {
    affinityTallies: friendTallies,
    affinityCount,
    matchesItself: affinity.length > 0 && meansAll(affinity, pod, snapshot),
    antiAffinityTallies: antiAffinity.map((term) => sumUp(snapshot, term, countMatching(snapshot, term))),
    existingAntiAffinityTallies,
  }
}

/** Number of matching pods on each node. */
export const countMatching = (snapshot: Snapshot, term: AffinityTerm): Int32Array =>
  snapshot.counts.of(`term ${term.key}`, (other) => termMatches(term, other, snapshot.namespaces))

function sumUp(snapshot: Snapshot, term: AffinityTerm, counts: Int32Array): TermTally {
  const domains = snapshot.topology(term.topologyKey).column.all(snapshot.order)
  const pods: (number | undefined)[] = []
  const { order } = snapshot
  for (let at = 0; at < order.length; at++) {
    const slot = order[at] as number
    if (counts[slot] !== 0) addTo(pods, domains[slot] as number, counts[slot] as number)
  }
  return { term, domains, pods }
}

function tallyOf(snapshot: Snapshot, tallies: Map<string, TermTally>, term: AffinityTerm): TermTally {
  const known = tallies.get(term.topologyKey)
  if (known !== undefined) return known
  const made = { term, domains: snapshot.topology(term.topologyKey).column.all(snapshot.order), pods: [] }
  tallies.set(term.topologyKey, made)
  return made
}

function addTo(pods: (number | undefined)[], domain: number, count: number): void {
  // A removed node has no domain (NaN).
  if (domain >= 0) pods[domain] = (pods[domain] ?? 0) + count
}

const countAt = ({ domains, pods }: TermTally, slot: number): number => {
  const domain = domains[slot] as number
  return domain === noDomain ? 0 : (pods[domain] ?? 0)
}

export function affinityFits({ affinityTallies, affinityCount, matchesItself }: AffinityTally, slot: number): boolean {
  let isMatched = true
  for (const tally of affinityTallies) {
    if (tally.domains[slot] === noDomain) return false
    if (countAt(tally, slot) <= 0) isMatched = false
  }
  return isMatched || (affinityCount === 0 && matchesItself)
}

export function antiAffinityFits({ antiAffinityTallies }: AffinityTally, slot: number): boolean {
  for (const tally of antiAffinityTallies) if (countAt(tally, slot) > 0) return false
  return true
}

export function existingFit({ existingAntiAffinityTallies }: AffinityTally, slot: number): boolean {
  for (const tally of existingAntiAffinityTallies.values()) if (countAt(tally, slot) > 0) return false
  return true
}

/** Updates the counts for a pod that is added or removed. */
export function updateTally(cycle: Cycle, tally: AffinityTally, { slot, pod, facts }: PlacedPod, by: 1 | -1): void {
  const { snapshot } = cycle
  if (tally.affinityTallies.length > 0 && meansAll(cycle.facts.affinity, pod, snapshot))
    for (const { domains, pods } of tally.affinityTallies) {
      addTo(pods, domains[slot] as number, by)
      if ((domains[slot] as number) >= 0) tally.affinityCount += by
    }
  for (const { term, domains, pods } of tally.antiAffinityTallies)
    if (termMatches(term, pod, snapshot.namespaces)) addTo(pods, domains[slot] as number, by)
  for (const term of facts.antiAffinity)
    if (termMatches(term, cycle.pod, snapshot.namespaces)) {
      const { domains, pods } = tallyOf(snapshot, tally.existingAntiAffinityTallies, term)
      addTo(pods, domains[slot] as number, by)
    }
}
