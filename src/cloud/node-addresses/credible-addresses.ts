// The addresses of nodes that load balancers use. A node reports its addresses itself, and the proxies of all nodes accept
// traffic of a load balancer at them, so a node must not name an address that belongs to something else in the cluster.
import { isLoopbackAddress } from '../../base/net/address-kind.ts'
import { cidrOfAddress } from '../../base/net/cidr.ts'
import { DisjointRanges } from '../../base/net/disjoint-ranges.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parseCidrsSloppy, parseIpSloppy } from '../../base/net/sloppy-address.ts'
import type { Node, NodeAddress } from '../../api/core/v1/node/node.ts'
import { specialAddressErrors } from '../../api/validation/special-address-rules.ts'

/**
 * The external and internal addresses of each node, without those of pods and Services and those of an older node. Loopback
 * addresses count in a cluster of one node only.
 */
export function credibleAddresses(
  nodes: readonly Node[],
  reserved: readonly string[],
): ReadonlyMap<Node, readonly NodeAddress[]> {
  const known = parseCidrsSloppy([...reserved, ...nodes.flatMap(({ spec }) => spec.podCIDRs ?? [])])
  const ranges = DisjointRanges.of(known.map((range) => ({ range, value: range })))
  const owners = new Map<IpAddress, Node>()
  const found = new Map<Node, readonly NodeAddress[]>()
  for (const node of nodes.toSorted(byAge)) {
    const isOwn = ({ type, address: text }: NodeAddress): boolean => {
      const address = parseIpSloppy(text)
      if ((type !== 'ExternalIP' && type !== 'InternalIP') || address === undefined) return false
      if (nodes.length === 1 && isLoopbackAddress(address)) return true
      if (specialAddressErrors(address).length > 0 || ranges.overlapping(cidrOfAddress(address)) !== undefined)
        return false
      const owner = owners.get(address)
      if (owner === undefined) owners.set(address, node)
      return owner === undefined || owner === node
    }
    found.set(node, (node.status.addresses ?? []).filter(isOwn))
  }
  return found
}

function byAge({ metadata: a }: Node, { metadata: b }: Node): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1
  return a.name < b.name ? -1 : 1
}
