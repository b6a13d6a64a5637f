// PolicyTable: the desired content of the table, kept up to date from pods, namespaces and policies, and the transactions
// that lead to it. Whether the kernel has the content is not known here: if it may not, the caller applies all of it.
import type { NetworkPolicy } from '../../api/networking/v1/network-policy.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import { contentDiff, diffCommands, noDiff } from '../../machine/nftables/table-content.ts'
import {
  compiledPolicy,
  directions,
  withoutRules,
  type CompiledPolicy,
  type Direction,
  type PodSelection,
} from '../rules/compiled-policy.ts'
import { isSelected, type PodFacts } from '../rules/pod-facts.ts'
import { SelectionIndex } from '../rules/selection-index.ts'
import { PeerSets } from './peer-sets.ts'
import { PolicyChains, type IsolationChain } from './policy-chains.ts'
import { layoutCommands, suffixOf, table, type PolicyLayout } from './policy-layout.ts'
import { TrackedContent } from './tracked-content.ts'

export interface PolicyTableOptions extends PolicyLayout {
  readonly nodeName: string
}

/** A pod of this node. */
interface LocalPod {
  readonly addresses: readonly IpAddress[]
  readonly isolation: Readonly<Record<Direction, IsolationChain | undefined>>
}

export class PolicyTable {
  readonly #options: PolicyTableOptions
  readonly #content = new TrackedContent()
  readonly #pods = new Map<ObjectKey, PodFacts>()
  readonly #podsOf = new Map<string, Set<ObjectKey>>()
  readonly #namespaces = new Map<string, Labels>()
  readonly #policies = new Map<ObjectKey, CompiledPolicy>()
  readonly #policyIndex = new SelectionIndex<CompiledPolicy>()
  readonly #local = new Map<ObjectKey, LocalPod>()
  /** The pods of this node with each address. The last one has it. */
  readonly #owners = new Map<IpAddress, ObjectKey[]>()
  readonly #sets: PeerSets
  readonly #chains: PolicyChains

  constructor(options: PolicyTableOptions) {
    this.#options = options
    this.#sets = new PeerSets(this.#content, {
      pods: (namespace) => this.#podsIn(namespace),
      labelsOf: (namespace) => this.#namespaces.get(namespace),
    })
    this.#chains = new PolicyChains(this.#content, this.#sets)
  }

  setNamespace(name: string, labels: Labels | undefined): void {
    if (labels === undefined) this.#namespaces.delete(name)
    else this.#namespaces.set(name, labels)
    for (const pod of this.#podsIn(name)) this.#sets.update(pod.key, pod)
  }

  /** Whether this changes the rules of policies. */
  setPod(key: ObjectKey, now: PodFacts | undefined): boolean {
    const changes = this.#content.changes
    const before = this.#pods.get(key)
    if (before !== undefined) {
      this.#pods.delete(key)
      this.#podsOf.get(before.namespace)?.delete(key)
    }
    if (now !== undefined) {
      this.#pods.set(key, now)
      getOrInsert(this.#podsOf, now.namespace, () => new Set<ObjectKey>()).add(key)
    }
    this.#sets.update(key, now)
    this.#updateLocal(key)
    return this.#policies.size > 0 && this.#content.changes !== changes
  }

  /** Without its rules, a policy isolates its pods and allows nothing. */
  setPolicy(key: ObjectKey, policy: NetworkPolicy | undefined, hasRules = true): void {
    const before = this.#policies.get(key)
    const compiled = policy === undefined ? undefined : compiledPolicy(policy)
    const now = compiled === undefined || hasRules ? compiled : withoutRules(compiled)
    if (before !== undefined) this.#policyIndex.remove(subjectOf(before), before)
    if (now === undefined) this.#policies.delete(key)
    else {
      this.#policies.set(key, now)
      this.#policyIndex.add(subjectOf(now), now)
      this.#chains.update(now)
    }
    const namespace = now?.namespace ?? before?.namespace
    for (const pod of this.#podsIn(namespace))
      if ([before, now].some((each) => each !== undefined && isSelected(subjectOf(each), pod, undefined)))
        this.#updateLocal(pod.key)
  }

  /** The commands for what changed since the last call. */
  changes(): readonly CommandText[] {
    return [...diffCommands(table, this.#content.take())]
  }

  /** The policies that are known. */
  get policies(): Iterable<ObjectKey> {
    return this.#policies.keys()
  }

  /** Policies whose rules are left out since the last call, because they are too many. */
  takeOversized(): readonly ObjectKey[] {
    return this.#chains.takeOversized()
  }

  /** Commands that replace the table, with the rules of these policies; the others isolate their pods and allow nothing. */
  all(policies?: ReadonlySet<ObjectKey>): readonly CommandText[] {
    this.#content.take()
    const diff = noDiff()
    runToEnd((slice) => contentDiff({ elements: new Map(), objects: new Map() }, this.#content.current, diff, slice))
    if (policies !== undefined)
      for (const policy of this.#policies.keys())
        if (!policies.has(policy))
          for (const name of this.#chains.namesOf(policy))
            diff.objects.set(name, { before: undefined, now: { kind: 'chain', lines: [] } })
    return [...layoutCommands(this.#options), ...diffCommands(table, diff)]
  }

  *#podsIn(namespace: string | undefined): Generator<PodFacts> {
    if (namespace === undefined) return yield* this.#pods.values()
    for (const key of this.#podsOf.get(namespace) ?? []) {
      const pod = this.#pods.get(key)
      if (pod !== undefined) yield pod
    }
  }

  #updateLocal(key: ObjectKey): void {
    const pod = this.#pods.get(key)
    const before = this.#local.get(key)
    const isLocal = pod?.nodeName === this.#options.nodeName && pod.addresses.length > 0
    if (!isLocal && before === undefined) return
    if (isLocal) this.#local.set(key, this.#localPod(pod))
    else this.#local.delete(key)
    const addresses = isLocal ? pod.addresses : []
    for (const address of addresses) this.#own(address, key)
    for (const address of before?.addresses ?? []) if (!addresses.includes(address)) this.#disown(address, key)
    for (const direction of directions) this.#chains.release(before?.isolation[direction])
  }

  #localPod(pod: PodFacts): LocalPod {
    const policies = [...this.#policyIndex.candidates(pod)]
      .filter((policy) => isSelected(subjectOf(policy), pod, undefined))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const chainOf = (direction: Direction) => this.#chains.acquire(policies, direction, pod)
    return { addresses: pod.addresses, isolation: { ingress: chainOf('ingress'), egress: chainOf('egress') } }
  }

  #own(address: IpAddress, key: ObjectKey): void {
    const owners = getOrInsert(this.#owners, address, () => [])
    if (!owners.includes(key)) owners.push(key)
    this.#updateAddress(address)
  }

  #disown(address: IpAddress, key: ObjectKey): void {
    const owners = (this.#owners.get(address) ?? []).filter((each) => each !== key)
    if (owners.length === 0) this.#owners.delete(address)
    else this.#owners.set(address, owners)
    this.#updateAddress(address)
  }

  #updateAddress(address: IpAddress): void {
    const suffix = suffixOf(familyOf(address))
    const owner = this.#owners.get(address)?.at(-1)
    const isolation = owner === undefined ? undefined : this.#local.get(owner)?.isolation
    this.#content.setElement(commandText`pods${suffix}`, commandText`${address}`, owner === undefined ? undefined : '')
    const isIsolated = directions.some((direction) => isolation?.[direction] !== undefined)
    const self = commandText`${address} . ${address}`
    this.#content.setElement(commandText`self${suffix}`, self, isIsolated ? '' : undefined)
    for (const direction of directions) {
      const chain = isolation?.[direction]
      const verdict = chain === undefined ? undefined : commandText`goto ${chain.name}`
      this.#content.setElement(commandText`${direction}${suffix}`, commandText`${address}`, verdict)
    }
  }
}

const subjectOf = ({ namespace, pods }: CompiledPolicy): PodSelection => ({ namespaces: { name: namespace }, pods })
