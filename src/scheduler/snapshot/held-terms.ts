// HeldTerms: the affinity terms of placed pods, each stored once with the nodes whose pods have it.
import type { AffinityTerm } from './affinity-term.ts'
import type { PodFacts } from './pod-facts.ts'

export type TermRole = 'affinity' | 'antiAffinity' | 'preferred'

export interface HeldTerm {
  readonly role: TermRole
  readonly term: AffinityTerm
  readonly weight: number
  /** Number of pods with this term, by node slot. */
  readonly holders: Map<number, number>
}

export class HeldTerms {
  readonly #terms: Readonly<Record<TermRole, Map<string, HeldTerm>>> = {
    affinity: new Map(),
    antiAffinity: new Map(),
    preferred: new Map(),
  }

  of(role: TermRole): Iterable<HeldTerm> {
    return this.#terms[role].values()
  }

  shift(slot: number, { affinity, antiAffinity, preferred }: PodFacts, by: 1 | -1): void {
    for (const term of affinity) this.#shift('affinity', term, 0, slot, by)
    for (const term of antiAffinity) this.#shift('antiAffinity', term, 0, slot, by)
    for (const { term, weight } of preferred) this.#shift('preferred', term, weight, slot, by)
  }

  #shift(role: TermRole, term: AffinityTerm, weight: number, slot: number, by: 1 | -1): void {
    const terms = this.#terms[role]
    const key = weight === 0 ? term.key : `${weight} ${term.key}`
    let held = terms.get(key)
    if (held === undefined) terms.set(key, (held = { role, term, weight, holders: new Map() }))
    const count = (held.holders.get(slot) ?? 0) + by
    if (count > 0) held.holders.set(slot, count)
    else held.holders.delete(slot)
    if (held.holders.size === 0) terms.delete(key)
  }
}
