// Affinity as a wish: weights of this pod's terms and of other pods' terms about it, summed by domain.
import { scoreMax, type Cycle } from '../framework.ts'
import { termMatches } from '../snapshot/affinity-term.ts'
import type { HeldTerm } from '../snapshot/held-terms.ts'
import type { NodeColumn } from '../snapshot/node-columns.ts'
import { noDomain } from '../snapshot/topology.ts'
import { meantBy } from './affinity-filter.ts'

interface DomainWeights {
  readonly domains: NodeColumn
  readonly weights: number[]
}

export type AffinityScoring = readonly DomainWeights[]

/** Undefined when no term says anything. */
export function prepareAffinity(
  { facts, snapshot, pod }: Cycle,
  hardWeight: number,
  ignoresOthers: boolean,
): AffinityScoring | undefined {
  if (ignoresOthers && facts.preferred.length === 0) return undefined
  const byKey = new Map<string, DomainWeights>()
  const add = (topologyKey: string, slot: number, weight: number) => {
    let found = byKey.get(topologyKey)
    if (found === undefined) {
      found = { domains: snapshot.topology(topologyKey).column, weights: [] }
      byKey.set(topologyKey, found)
    }
    const domain = found.domains.at(slot)
    if (domain !== noDomain) found.weights[domain] = (found.weights[domain] ?? 0) + weight
  }
  for (const { term, weight } of facts.preferred) {
    const counts = meantBy(snapshot, term)
    for (const slot of snapshot.order)
      if (counts[slot] !== 0) add(term.topologyKey, slot, weight * (counts[slot] as number))
  }
  const hear = ({ term, holders }: HeldTerm, weight: number) => {
    if (termMatches(term, pod, snapshot.namespaces))
      for (const [slot, count] of holders) add(term.topologyKey, slot, weight * count)
  }
  if (hardWeight > 0) for (const held of snapshot.terms.of('affinity')) hear(held, hardWeight)
  for (const held of snapshot.terms.of('preferred')) hear(held, held.weight)
  return byKey.size === 0 ? undefined : [...byKey.values()]
}

export function affinityScore(scoring: AffinityScoring, slot: number): number {
  let sum = 0
  for (const { domains, weights } of scoring) {
    const domain = domains.at(slot)
    if (domain !== noDomain) sum += weights[domain] ?? 0
  }
  return sum
}

/** The lowest becomes 0, the highest the maximum. */
export function stretchScores(scores: Float64Array): void {
  let [least, most] = [Infinity, -Infinity]
  for (const score of scores) {
    least = Math.min(least, score)
    most = Math.max(most, score)
  }
  for (let index = 0; index < scores.length; index++)
    scores[index] = most === least ? 0 : Math.trunc(scoreMax * (((scores[index] as number) - least) / (most - least)))
}
