// Frontends: the addresses at which a node accepts the traffic of a Service, each with its target.
import { cidrHasAddress, cidrOfAddress, type Cidr } from '../../base/net/cidr.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import { disjointCidrs } from '../../base/net/disjoint-ranges.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import type { Protocol, RouteTarget, ServiceRoute } from '../routing/service-route.ts'

/** Of several Services at one address and port, the one of the first kind gets the traffic. */
export const frontendKinds = ['cluster IP', 'node port', 'load balancer IP', 'external IP'] as const
export type FrontendKind = (typeof frontendKinds)[number]

export interface Frontend {
  readonly kind: FrontendKind
  /** The key of the maps in the kernel: address, protocol and port. */
  readonly key: CommandText
  readonly address: IpAddress
  readonly port: number
  readonly target: RouteTarget
  /** The target for traffic of this node and of pods, if the source address is preserved for other clients. */
  readonly ownTarget?: RouteTarget
  /** Whether the source address is replaced with the node's. */
  readonly isMasqueraded: boolean
  /** The only clients that are accepted; undefined for all. */
  readonly sourceRanges?: readonly Cidr[]
}

/** By kind, in the order of `frontendKinds`. An address that is named twice is there twice. */
export function frontendsOf(route: ServiceRoute, nodeAddresses: readonly IpAddress[]): readonly Frontend[] {
  const { clusterIp, port, nodePort, family, externalIps, loadBalancerIps, internal } = route
  const ofNode = nodePort === 0 ? [] : nodeAddresses.filter((address) => familyOf(address) === family)
  return [
    { ...at(route, clusterIp, port), kind: 'cluster IP', target: internal, isMasqueraded: false },
    ...ofNode.map((address) => external(route, address, nodePort, 'node port')),
    ...loadBalancerIps.map((address) => ({
      ...external(route, address, port, 'load balancer IP'),
      ...acceptedSources(route, address, nodeAddresses),
    })),
    ...externalIps.map((address) => external(route, address, port, 'external IP')),
  ]
}

const external = (route: ServiceRoute, address: IpAddress, port: number, kind: FrontendKind): Frontend => ({
  ...at(route, address, port),
  kind,
  target: route.external,
  isMasqueraded: !route.preservesClientIp,
  ...(route.preservesClientIp ? { ownTarget: route.externalFromCluster } : {}),
})

export const protocolNames = { SCTP: 'sctp', TCP: 'tcp', UDP: 'udp' } as const satisfies Record<Protocol, string>

const at = ({ protocol }: ServiceRoute, address: IpAddress, port: number) => ({
  key: commandText`${address} . ${protocolNames[protocol]} . ${port}`,
  address,
  port,
})

/**
 * If this node is accepted, so is the address itself, which is the source of the node's own connections if the address is
 * assigned to one of its interfaces.
 */
function acceptedSources(
  { sourceRanges }: ServiceRoute,
  address: IpAddress,
  nodeAddresses: readonly IpAddress[],
): Pick<Frontend, 'sourceRanges'> {
  if (sourceRanges === undefined || sourceRanges.some((range) => range.endsWith('/0'))) return {}
  const acceptsNode = nodeAddresses.some((node) => sourceRanges.some((range) => cidrHasAddress(range, node)))
  return { sourceRanges: acceptsNode ? disjointCidrs([...sourceRanges, cidrOfAddress(address)]) : sourceRanges }
}
