// The addresses of nodes that load balancers use. A node reports its addresses itself, and the proxies of all nodes accept
// traffic of a load balancer at them, so a node must not name an address that belongs to something else in the cluster.
import { containsCidr, parseCidr, widthOf, type Cidr } from '../../api/networking/v1/cidr.ts'
import type { Node, NodeAddress } from '../../api/core/v1/node/node.ts'
import { isIp } from '../../api/validation/network-rules.ts'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'
import { isLoopback } from '../../base/text/loopback.ts'
import { familyOf } from '../../base/text/address-family.ts'

/**
 * The external and internal addresses of each node, without those of pods and Services and those of an older node. Loopback
 * addresses count in a cluster of one node only.
 */
export function credibleAddresses(
  nodes: readonly Node[],
  reserved: readonly string[],
): ReadonlyMap<Node, readonly NodeAddress[]> {
  const ranges = [...reserved, ...nodes.flatMap(({ spec }) => spec.podCIDRs ?? [])].map(parseCidr)
  const owners = new Map<bigint, Node>()
  const found = new Map<Node, readonly NodeAddress[]>()
  for (const node of nodes.toSorted(byAge)) {
    const isOwn = ({ type, address }: NodeAddress): boolean => {
      if ((type !== 'ExternalIP' && type !== 'InternalIP') || !isIp(address)) return false
      if (nodes.length === 1 && isLoopback(address)) return true
      const host = hostRange(address)
      if (specialAddressErrors(address).length > 0 || ranges.some((range) => containsCidr(range, host))) return false
      const owner = owners.get(host.address)
      if (owner === undefined) owners.set(host.address, node)
      return owner === undefined || owner === node
    }
    found.set(node, (node.status.addresses ?? []).filter(isOwn))
  }
  return found
}

export const hostRange = (address: string): Cidr => parseCidr(`${address}/${widthOf(familyOf(address))}`)

function byAge({ metadata: a }: Node, { metadata: b }: Node): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1
  return a.name < b.name ? -1 : 1
}
