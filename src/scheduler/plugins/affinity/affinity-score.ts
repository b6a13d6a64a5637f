// Preferred affinity: the weights of this pod's terms, and of existing pods' terms that match it, summed by domain.
import { scoreMax, type Cycle } from '../../framework/framework.ts'
import { termMatches } from '../../snapshot/affinity-term.ts'
import type { HeldTerm } from '../../snapshot/held-terms.ts'
import { noDomain } from '../../snapshot/topology.ts'
import { countMatching } from './affinity-filter.ts'

interface DomainWeights {
  readonly domains: Float64Array
  readonly weights: number[]
}

export type AffinityScoring = readonly DomainWeights[]

/** Undefined when no term applies. */
export function prepareAffinity(
  { facts, snapshot, pod }: Cycle,
  hardWeight: number,
  ignoresOthers: boolean,
): AffinityScoring | undefined {
  if (ignoresOthers && facts.preferred.length === 0) return undefined
  const byKey = new Map<string, DomainWeights>()
  const weightsOf = (topologyKey: string): DomainWeights => {
    const known = byKey.get(topologyKey)
    if (known !== undefined) return known
    const made = { domains: snapshot.topology(topologyKey).column.all(snapshot.order), weights: [] }
    byKey.set(topologyKey, made)
    return made
  }
  const add = ({ domains, weights }: DomainWeights, slot: number, weight: number) => {
    const domain = domains[slot] as number
    if (domain >= 0) weights[domain] = (weights[domain] ?? 0) + weight
  }
  for (const { term, weight } of facts.preferred) {
    const counts = countMatching(snapshot, term)
    const target = weightsOf(term.topologyKey)
    for (const slot of snapshot.order) if (counts[slot] !== 0) add(target, slot, weight * (counts[slot] as number))
  }
  const addHolders = ({ term, holders }: HeldTerm, weight: number) => {
    if (!termMatches(term, pod, snapshot.namespaces)) return
    const target = weightsOf(term.topologyKey)
    for (const [slot, count] of holders) add(target, slot, weight * count)
  }
  if (hardWeight > 0) for (const held of snapshot.terms.of('affinity')) addHolders(held, hardWeight)
  for (const held of snapshot.terms.of('preferred')) addHolders(held, held.weight)
  const weighted = [...byKey.values()].filter(({ weights }) => weights.length > 0)
  return weighted.length === 0 ? undefined : weighted
}

export function affinityScore(scoring: AffinityScoring, slot: number): number {
  let sum = 0
  for (const { domains, weights } of scoring) {
    const domain = domains[slot] as number
    if (domain !== noDomain) sum += weights[domain] ?? 0
  }
  return sum
}

/** Scales linearly: the lowest score becomes 0, the highest the maximum. */
export function stretchScores(scores: Float64Array): void {
  let least = Infinity
  let most = -Infinity
  for (const score of scores) {
    least = Math.min(least, score)
    most = Math.max(most, score)
  }
  for (let index = 0; index < scores.length; index++)
    scores[index] = most === least ? 0 : Math.trunc(scoreMax * (((scores[index] as number) - least) / (most - least)))
}
