// Frontends: the addresses at which a node accepts the traffic of a Service, each with its target.
import { containsCidr, parseCidr } from '../../api/networking/v1/cidr.ts'
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'
import type { RouteTarget, ServiceRoute } from '../routing/service-route.ts'

export interface Frontend {
  /** The key of the maps in the kernel: address, protocol and port. */
  readonly key: string
  readonly address: string
  readonly port: number
  readonly target: RouteTarget
  /** The target for traffic of this node and of pods, if the source address is preserved for other clients. */
  readonly ownTarget?: RouteTarget
  /** Whether the source address is replaced with the node's. */
  readonly isMasqueraded: boolean
  /** An allocated address, which belongs to this Service only. */
  readonly isClusterIp: boolean
  /** Two Services may name the same address and port. */
  readonly isShareable: boolean
  /** The only clients that are accepted; undefined for all. */
  readonly sourceRanges?: readonly string[]
}

export function frontendsOf(route: ServiceRoute, nodeAddresses: readonly string[]): readonly Frontend[] {
  const { clusterIp, port, nodePort, family, externalIps, loadBalancerIps, internal } = route
  const ofNode = nodePort === 0 ? [] : nodeAddresses.filter((address) => familyOf(address) === family)
  return [
    {
      ...at(route, clusterIp, port),
      target: internal,
      isMasqueraded: false,
      isClusterIp: true,
      isShareable: false,
    },
    ...ofNode.map((address) => external(route, address, nodePort, false)),
    ...externalIps.map((address) => external(route, address, port, true)),
    ...loadBalancerIps.map((address) => ({
      ...external(route, address, port, true),
      ...acceptedSources(route, address, nodeAddresses),
    })),
  ]
}

const external = (route: ServiceRoute, address: string, port: number, isShareable: boolean): Frontend => ({
  ...at(route, address, port),
  target: route.external,
  ...(route.preservesClientIp ? { ownTarget: route.externalFromCluster } : {}),
  isMasqueraded: !route.preservesClientIp,
  isClusterIp: false,
  isShareable,
})

const at = ({ protocol }: ServiceRoute, address: string, port: number) => ({
  key: `${address} . ${protocol.toLowerCase()} . ${port}`,
  address,
  port,
})

/**
 * The kernel rejects overlapping ranges. If this node is accepted, so is the address itself, which is the source of the
 * node's own connections if the address is assigned to one of its interfaces.
 */
function acceptedSources(
  { sourceRanges, family }: ServiceRoute,
  address: string,
  nodeAddresses: readonly string[],
): Pick<Frontend, 'sourceRanges'> {
  if (sourceRanges.length === 0 || sourceRanges.some((range) => range.endsWith('/0'))) return {}
  const acceptsNode = nodeAddresses.some(
    (each) => familyOf(each) === family && sourceRanges.some((range) => contains(range, hostRange(each, family))),
  )
  return { sourceRanges: withoutOverlaps([...sourceRanges, ...(acceptsNode ? [hostRange(address, family)] : [])]) }
}

const hostRange = (address: string, family: AddressFamily): string => `${address}/${family === 'IPv6' ? 128 : 32}`

const contains = (outer: string, inner: string): boolean => containsCidr(parseCidr(outer), parseCidr(inner))

const withoutOverlaps = (ranges: readonly string[]): readonly string[] =>
  ranges.filter(
    (range, index) =>
      !ranges.some((other, at) => at !== index && contains(other, range) && !(contains(range, other) && index < at)),
  )
