// How packets reach the pods of other nodes: by a route where the nodes share a network segment, otherwise through VXLAN.
// The result is data; a driver brings the machine into that state.
import type { PathKind, PodPaths, PodRoute, Tunnel } from '../../machine/pod-network/pod-network.ts'
import { networkAddressOf, type Cidr } from '../../base/net/cidr.ts'
import { addressBits, addressOfBits, type IpAddress } from '../../base/net/ip-address.ts'
import { macOfOctets, type MacAddress } from '../../base/net/mac-address.ts'
import { familyOf } from '../../base/net/address-family.ts'

/** Another node of the cluster. */
export interface Peer {
  readonly name: string
  /** The addresses of the node, preferred ones first. */
  readonly addresses: readonly IpAddress[]
  /** At least one. */
  readonly podRanges: readonly [Cidr, ...Cidr[]]
}

export interface PeerPaths extends PodPaths {
  /** Names of the nodes by the path to them; of a node with several paths, the indirect one. */
  readonly nodes: ReadonlyMap<string, PathKind>
}

/** `isAdjacent` returns whether an address is on a network segment of this machine. */
export function peerPaths(peers: readonly Peer[], isAdjacent: (address: IpAddress) => boolean): PeerPaths {
  const routes: PodRoute[] = []
  const tunnels: Tunnel[] = []
  const nodes = new Map<string, PathKind>()
  for (const { name, addresses, podRanges } of peers) {
    const [first] = addresses
    if (first === undefined) continue
    const nextHops: IpAddress[] = []
    for (const range of podRanges) {
      const direct = addresses.find((address) => familyOf(address) === familyOf(range) && isAdjacent(address))
      const via = direct ?? nextHopOf(range)
      if (direct === undefined) nextHops.push(via)
      routes.push({ range, via, kind: direct === undefined ? 'vxlan' : 'route' })
    }
    if (nextHops.length > 0)
      tunnels.push({ hardwareAddress: hardwareAddressOf(podRanges), nodeAddress: first, nextHops })
    nodes.set(name, nextHops.length > 0 ? 'vxlan' : 'route')
  }
  return { routes, tunnels, nodes }
}

/** The first address of a range belongs to no pod: it stands for the VXLAN device of the node. */
export const nextHopOf = (range: Cidr): IpAddress => networkAddressOf(range)

/**
 * The hardware address of a node's VXLAN device. It follows from the first pod range, so nodes need not exchange it.
 * `02` marks a locally administered address.
 */
export function hardwareAddressOf([first]: readonly [Cidr, ...Cidr[]]): MacAddress {
  const address = addressBits(networkAddressOf(first))
  // Ranges of nodes differ in the last bits before the prefix: /64 for IPv6.
  const bits = Number(familyOf(first) === 'IPv4' ? address : (address >> 64n) & 0xffff_ffffn)
  return macOfOctets([0x02, 0x58, bits >>> 24, (bits >>> 16) & 0xff, (bits >>> 8) & 0xff, bits & 0xff])
}

/** The address of the bridge in a range: the first one after the address of the network. */
export const gatewayOf = (range: Cidr): IpAddress =>
  addressOfBits(familyOf(range), addressBits(networkAddressOf(range)) + 1n)
