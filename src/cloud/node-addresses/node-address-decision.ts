// The load balancer of a Service on the nodes' own addresses, as a pure function of the cluster's objects.
import { familyOf } from '../../base/net/address-family.ts'
import { cidrHasAddress } from '../../base/net/cidr.ts'
import { parseCidrsSloppy, parseIpSloppy } from '../../base/net/sloppy-address.ts'
import { isNodeReady, type Node, type NodeAddress } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { isExcluded, isToBeDeleted } from '../service/balanced-nodes.ts'
import { credibleAddresses } from './credible-addresses.ts'
import { conflictOf, nodeConflictOf } from './port-claims.ts'

export interface NodeAddressView {
  readonly services: Iterable<Service>
  readonly nodes: Iterable<Node>
  /** The pods with host ports. */
  readonly pods: readonly Pod[]
  /** The slices of the Service. */
  readonly slices: readonly EndpointSlice[]
  /** Nodes with an API server, by address, and its port. */
  readonly apiServers: ReadonlyMap<string, number>
  /** The ranges of pods and Services, where no node has an address. */
  readonly reserved: readonly string[]
}

export interface NodeAddressDecision {
  readonly ingress: readonly LoadBalancerIngress[]
  /** Why there are no addresses, or why nodes are left out. */
  readonly problems: readonly {
    readonly reason: 'PortConflict' | 'UnAvailableLoadBalancer'
    readonly message: string
  }[]
}

/** More addresses help no client, and every change of one is a write. */
const ingressMax = 64
/** One node cannot use up the addresses of a load balancer. */
const addressesPerNodeMax = 4
const problemsMax = 5

export function nodeAddressDecision(service: Service, view: NodeAddressView): NodeAddressDecision {
  const conflict = conflictOf(service, view.services)
  if (conflict !== undefined) return { ingress: [], problems: [{ reason: 'PortConflict', message: conflict }] }
  const all = [...view.nodes]
  const nodes = all
    .filter((node) => isNodeReady(node) && !isExcluded(node) && !isToBeDeleted(node))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  if (nodes.length === 0) return unavailable('There are no available nodes for LoadBalancer')
  const withEndpoints = nodes.filter((node) => isLocalTo(service, node, view.slices))
  if (withEndpoints.length === 0) return unavailable('no node has a ready endpoint, and externalTrafficPolicy is Local')
  const checked = withEndpoints.map((node) => ({
    node,
    problem: nodeConflictOf(service, node, view.pods, apiPortOf(node, view)),
  }))
  const problems = checked.flatMap(({ problem }) =>
    problem === undefined ? [] : [{ reason: 'PortConflict' as const, message: problem }],
  )
  const credible = credibleAddresses(all, view.reserved)
  const addresses = addressesOf(
    service,
    checked.flatMap(({ node, problem }) => (problem === undefined ? [credible.get(node) ?? []] : [])),
  )
  if (addresses.length === 0 && problems.length === 0)
    return unavailable(`no node has an address of family ${(service.spec.ipFamilies ?? []).join(' or ')}`)
  return {
    ingress: addresses.slice(0, ingressMax).map((ip) => ({ ip, ipMode: 'VIP' })),
    problems: problems.slice(0, problemsMax),
  }
}

const unavailable = (message: string): NodeAddressDecision => ({
  ingress: [],
  problems: [{ reason: 'UnAvailableLoadBalancer', message }],
})

/** An API server that listens on loopback has an address of its node's pod network for pods. */
function apiPortOf({ spec, status }: Node, { apiServers }: NodeAddressView): number {
  const own = new Set((status.addresses ?? []).map(({ address }) => address))
  const podRanges = parseCidrsSloppy(spec.podCIDRs ?? [])
  const isOwn = (text: string) => {
    const address = parseIpSloppy(text)
    return own.has(text) || (address !== undefined && podRanges.some((range) => cidrHasAddress(range, address)))
  }
  return [...apiServers].find(([address]) => isOwn(address))?.[1] ?? 0
}

const isLocalTo = ({ spec }: Service, { metadata }: Node, slices: readonly EndpointSlice[]): boolean =>
  spec.externalTrafficPolicy !== 'Local' ||
  slices.some(({ endpoints }) =>
    (endpoints ?? []).some(({ nodeName, conditions }) => nodeName === metadata.name && conditions?.ready !== false),
  )

/**
 * The external addresses of each node, or its internal ones if it has none, of the families of the Service. What one node
 * reports does not displace the addresses of others.
 */
function addressesOf({ spec }: Service, nodes: readonly (readonly NodeAddress[])[]): readonly string[] {
  const families = spec.ipFamilies ?? ['IPv4']
  const ofNode = (addresses: readonly NodeAddress[]): readonly string[] => {
    const ofType = (wanted: string) =>
      addresses.flatMap(({ type, address }) =>
        type === wanted && families.includes(familyOf(address)) ? [address] : [],
      )
    const external = ofType('ExternalIP')
    return (external.length > 0 ? external : ofType('InternalIP')).slice(0, addressesPerNodeMax)
  }
  return [...new Set(nodes.flatMap(ofNode))]
}
