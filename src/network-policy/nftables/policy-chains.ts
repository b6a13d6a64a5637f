// PolicyChains: a chain for each policy and direction, and a chain for each combination of policies that selects a pod of
// this node. Pods with the same policies share both. A policy with named ports has a chain for each meaning of the names.
import type { ObjectKey } from '../../api/meta/object.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import { directions, type CompiledPolicy, type Direction } from '../rules/compiled-policy.ts'
import { namedPortId, type PodFacts } from '../rules/pod-facts.ts'
import type { PeerSet, PeerSets } from './peer-sets.ts'
import { namesIn, ruleLines } from './rule-lines.ts'
import type { TrackedContent } from './tracked-content.ts'

interface PolicyChain {
  readonly id: string
  readonly name: CommandText
  readonly policy: ObjectKey
  readonly direction: Direction
  /** The ports of the pods for which the chain is. */
  readonly ports: PodFacts['ports']
  uses: number
  sets: readonly PeerSet[]
}

/** Isolates pods in one direction. */
export interface IsolationChain {
  readonly id: string
  readonly name: CommandText
  readonly chains: readonly PolicyChain[]
  uses: number
}

export class PolicyChains {
  readonly #content: TrackedContent
  readonly #sets: PeerSets
  readonly #chains = new Map<string, PolicyChain>()
  readonly #ofPolicy = new Map<ObjectKey, Set<PolicyChain>>()
  readonly #isolations = new Map<string, IsolationChain>()
  /** Policies that have more rules than a chain may have. */
  readonly #oversized = new Set<ObjectKey>()
  #lastNumber = 0

  constructor(content: TrackedContent, sets: PeerSets) {
    this.#content = content
    this.#sets = sets
  }

  /** The chain of a pod that these policies select; undefined if none isolates it in this direction. */
  acquire(policies: readonly CompiledPolicy[], direction: Direction, pod: PodFacts): IsolationChain | undefined {
    const isolating = policies.filter(({ rules }) => rules[direction] !== undefined)
    if (isolating.length === 0) return undefined
    const ids = isolating.map((policy) => chainId(policy, direction, pod))
    const id = ids.join('\n')
    const known = this.#isolations.get(id)
    if (known !== undefined) {
      known.uses++
      return known
    }
    const chains = isolating.map((policy) => this.#acquireChain(policy, direction, pod))
    const isolation: IsolationChain = { id, name: this.#newName('pod', direction), chains, uses: 1 }
    this.#isolations.set(id, isolation)
    const lines = [...chains.map(({ name }) => commandText`jump ${name}`), commandText`drop`]
    this.#content.setObject(isolation.name, { kind: 'chain', lines })
    return isolation
  }

  release(isolation: IsolationChain | undefined): void {
    if (isolation === undefined || --isolation.uses > 0) return
    this.#isolations.delete(isolation.id)
    this.#content.setObject(isolation.name, undefined)
    for (const chain of isolation.chains) this.#releaseChain(chain)
  }

  /** The chains with the rules of a policy. */
  namesOf(policy: ObjectKey): readonly CommandText[] {
    return Array.from(this.#ofPolicy.get(policy) ?? [], ({ name }) => name)
  }

  /** Policies of which a chain was rendered without rules since the last call, because there are too many. */
  takeOversized(): readonly ObjectKey[] {
    const oversized = [...this.#oversized]
    this.#oversized.clear()
    return oversized
  }

  /** Renders the chains of a changed policy. A direction that it no longer has is released with its last pod. */
  update(policy: CompiledPolicy): void {
    for (const chain of this.#ofPolicy.get(policy.key) ?? []) this.#render(chain, policy)
  }

  #acquireChain(policy: CompiledPolicy, direction: Direction, pod: PodFacts): PolicyChain {
    const id = chainId(policy, direction, pod)
    const known = this.#chains.get(id)
    if (known !== undefined) {
      known.uses++
      return known
    }
    const name = this.#newName('policy', direction)
    const chain: PolicyChain = { id, name, policy: policy.key, direction, ports: pod.ports, uses: 1, sets: [] }
    this.#chains.set(id, chain)
    const ofPolicy = this.#ofPolicy.get(policy.key)
    if (ofPolicy === undefined) this.#ofPolicy.set(policy.key, new Set([chain]))
    else ofPolicy.add(chain)
    this.#render(chain, policy)
    return chain
  }

  #releaseChain(chain: PolicyChain): void {
    if (--chain.uses > 0) return
    this.#chains.delete(chain.id)
    const ofPolicy = this.#ofPolicy.get(chain.policy)
    ofPolicy?.delete(chain)
    if (ofPolicy?.size === 0) this.#ofPolicy.delete(chain.policy)
    this.#content.setObject(chain.name, undefined)
    for (const set of chain.sets) this.#sets.release(set)
  }

  #render(chain: PolicyChain, policy: CompiledPolicy): void {
    const { direction, ports } = chain
    const sets: PeerSet[] = []
    const lines = ruleLines({
      policy: policy.key,
      direction,
      rules: policy.rules[direction] ?? [],
      numbersOf: (protocol, name) => ports.get(namedPortId(protocol, name)) ?? [],
      setOf: (selection, named) => {
        const set = this.#sets.acquire(selection, named)
        sets.push(set)
        return set.name
      },
    })
    if (lines === undefined) this.#oversized.add(policy.key)
    const before = chain.sets
    chain.sets = sets
    this.#content.setObject(chain.name, { kind: 'chain', lines: lines ?? [] })
    for (const set of before) this.#sets.release(set)
  }

  #newName(prefix: 'pod' | 'policy', direction: Direction): CommandText {
    return commandText`${prefix}-${direction}-${++this.#lastNumber}`
  }
}

/** Names are resolved for the selected pod only for ingress, where it is the destination. */
function chainId({ key, rules }: CompiledPolicy, direction: Direction, { ports }: PodFacts): string {
  const names = direction === 'ingress' ? namesIn(rules.ingress ?? []) : []
  const numbers = names.map(({ protocol, name }) => {
    const id = namedPortId(protocol, name)
    return `${id}=${(ports.get(id) ?? []).join()}`
  })
  return `${key} ${directions.indexOf(direction)} ${numbers.join(' ')}`
}
