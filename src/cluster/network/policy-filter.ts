// PolicyFilter: what network policies do with the packets of the simulated network. As in the kernel, every packet that the
// opener of a connection sends is checked, so that a changed policy applies to open connections too; replies always pass.
import { namespace } from '../../api/core/v1/namespace.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { splitKey, type ObjectKey } from '../../api/meta/object.ts'
import { networkPolicy } from '../../api/networking/v1/network-policy.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Informers } from '../../client/informer/informers.ts'
import type { NetworkHost } from '../../machine/network/link-faults.ts'
import { compiledPolicy, type CompiledPolicy, type Direction } from '../../network-policy/rules/compiled-policy.ts'
import { decide, type PolicyView, type TrafficEnd } from '../../network-policy/rules/decision.ts'
import { podFacts } from '../../network-policy/rules/pod-facts.ts'

export interface BlockedTraffic {
  readonly direction: Direction
  readonly policies: readonly ObjectKey[]
}

/** One connection, whose source may be translated on the way. */
export interface FilteredConnection {
  readonly client: NetworkHost
  readonly server: NetworkHost
  readonly port: number
  /** What the node of the client sees as the destination: the server, or a node with a node port. */
  readonly leavesTo: { readonly host: NetworkHost; readonly port: number }
  /** What the node of the server sees as the source: the client, or a node that has translated the source. */
  readonly arrivesFrom: NetworkHost
}

export class PolicyFilter implements PolicyView {
  /** Resolves when every policy that existed at the start is known. */
  readonly synced: Promise<unknown>
  readonly #podOf: (namespace: string, name: string) => Pod | undefined
  readonly #policies = new Map<string, Map<ObjectKey, CompiledPolicy>>()
  readonly #labels = new Map<string, Readonly<Record<string, string>>>()

  constructor(informers: Pick<Informers, 'of'>, podOf: (namespace: string, name: string) => Pod | undefined) {
    this.#podOf = podOf
    const namespaces = informers.of(namespace)
    const policies = informers.of(networkPolicy)
    namespaces.onChange(({ key, now }) => {
      if (now === undefined) this.#labels.delete(key)
      else this.#labels.set(key, now.metadata.labels ?? {})
    })
    policies.onChange(({ key, now }) => {
      const ofNamespace = getOrInsert(
        this.#policies,
        splitKey(key).namespace,
        () => new Map<ObjectKey, CompiledPolicy>(),
      )
      if (now === undefined) ofNamespace.delete(key)
      else ofNamespace.set(key, compiledPolicy(now))
    })
    this.synced = Promise.all([namespaces.synced, policies.synced])
  }

  policiesIn(home: string): Iterable<CompiledPolicy> {
    return this.#policies.get(home)?.values() ?? []
  }

  labelsOf(home: string): Readonly<Record<string, string>> | undefined {
    return this.#labels.get(home)
  }

  /** The policies that drop what the client sends now; undefined if its packets pass. */
  blocked({ client, server, port, leavesTo, arrivesFrom }: FilteredConnection): BlockedTraffic | undefined {
    if (this.#policies.size === 0) return undefined
    const from = this.#end(client)
    const { egress } = decide({ from, to: this.#end(leavesTo.host), protocol: 'TCP', port: leavesTo.port }, this)
    if (egress.kind === 'blocked') return { direction: 'egress', policies: egress.policies }
    const { ingress } = decide({ from: this.#end(arrivesFrom), to: this.#end(server), protocol: 'TCP', port }, this)
    return ingress.kind === 'blocked' ? { direction: 'ingress', policies: ingress.policies } : undefined
  }

  #end({ address, pod, node }: NetworkHost): TrafficEnd {
    const { namespace: home, name } = splitKey(pod)
    const known = pod === '' ? undefined : this.#podOf(home, name)
    const facts = known === undefined ? undefined : podFacts(known)
    if (facts !== undefined) return { address, pod: facts }
    return node === '' ? { address, pod: undefined } : { address, pod: undefined, node }
  }
}
