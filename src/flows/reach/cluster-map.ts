// ClusterMap: the objects on which the path of traffic depends, and who has an address.
import { zoneLabel } from '../../api/core/v1/node/node-labels.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Namespace } from '../../api/core/v1/namespace.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { NetworkPolicy } from '../../api/networking/v1/network-policy.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { addressAt } from '../../base/net/cidr.ts'
import { parseCidrsSloppy } from '../../base/net/sloppy-address.ts'
import { compiledPolicy, type CompiledPolicy } from '../../network-policy/rules/compiled-policy.ts'
import type { PolicyView, TrafficEnd } from '../../network-policy/rules/decision.ts'
import { podFacts } from '../../network-policy/rules/pod-facts.ts'
import { podPathsAnnotation } from '../../proxy/pod-routes/pod-routes.ts'
import type { NodeTopology } from '../../proxy/routing/endpoint-selection.ts'

export interface MappedObjects {
  readonly pods: readonly Pod[]
  readonly nodes: readonly Node[]
  readonly namespaces: readonly Namespace[]
  readonly services: readonly Service[]
  readonly slices: readonly EndpointSlice[]
  readonly policies: readonly NetworkPolicy[]
}

export class ClusterMap implements PolicyView {
  readonly #objects: MappedObjects
  readonly #policies: readonly CompiledPolicy[]

  constructor(objects: MappedObjects) {
    this.#objects = objects
    this.#policies = objects.policies.map(compiledPolicy)
  }

  get services(): readonly Service[] {
    return this.#objects.services
  }

  get namespaces(): readonly Namespace[] {
    return this.#objects.namespaces
  }

  policiesIn(namespace: string): readonly CompiledPolicy[] {
    return this.#policies.filter((policy) => policy.namespace === namespace)
  }

  labelsOf(namespace: string): Readonly<Record<string, string>> | undefined {
    const found = this.namespaces.find(({ metadata }) => metadata.name === namespace)
    return found === undefined ? undefined : (found.metadata.labels ?? {})
  }

  slicesOf(service: Service): readonly EndpointSlice[] {
    return this.#objects.slices.filter(
      (slice) =>
        namespaceOf(slice) === namespaceOf(service) &&
        slice.metadata.labels?.[serviceNameLabel] === service.metadata.name,
    )
  }

  node(name: string): Node | undefined {
    return this.#objects.nodes.find(({ metadata }) => metadata.name === name)
  }

  /** Whether Coxswain connects the pods of a node, so that it enforces policies there. Simulated nodes have no packets. */
  connectsPods(nodeName: string): boolean {
    const { metadata, status } = this.node(nodeName) ?? {}
    const isSimulated = status?.nodeInfo?.containerRuntimeVersion.startsWith('simulated://') ?? false
    return isSimulated || metadata?.annotations?.[podPathsAnnotation] !== undefined
  }

  topologyOf(nodeName: string): NodeTopology {
    return { name: nodeName, zone: this.node(nodeName)?.metadata.labels?.[zoneLabel] }
  }

  /** The pod that has the address for itself. */
  podAt(address: string): Pod | undefined {
    return this.#objects.pods.find((each) => podFacts(each)?.addresses.some((own) => own === address))
  }

  nodeAt(address: string): Node | undefined {
    return this.#objects.nodes.find((each) => addressesOfNode(each).includes(address))
  }

  endAt(address: string): TrafficEnd {
    const pod = this.podAt(address)
    const node = this.nodeAt(address)
    return {
      address,
      pod: pod === undefined ? undefined : podFacts(pod),
      ...(node === undefined ? {} : { node: node.metadata.name }),
    }
  }
}

/** Its addresses, and that of its bridge if its pods are connected by Coxswain. */
function addressesOfNode({ metadata, spec, status }: Node): readonly string[] {
  const isOurs = metadata.annotations?.[podPathsAnnotation] !== undefined
  return [
    ...(status.addresses ?? []).map(({ address }) => address),
    ...(isOurs ? parseCidrsSloppy(spec.podCIDRs ?? []).map((range) => addressAt(range, 1n)) : []),
  ]
}

/** The address of a pod in one family. */
export const podAddress = ({ status }: Pod, family: AddressFamily): string | undefined =>
  (status.podIPs ?? []).map(({ ip }) => ip).find((ip) => ip !== '' && familyOf(ip) === family)
