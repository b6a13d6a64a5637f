// How packets reach the pods of other nodes: by a route where the nodes share a network segment, otherwise through VXLAN.
// The result is data; a driver brings the machine into that state.
import type { PathKind, PodPaths, PodRoute, Tunnel } from '../../machine/pod-network/pod-network.ts'
import { addressText, parseCidr } from '../../api/networking/v1/cidr.ts'
import { familyOf } from '../../base/text/address-family.ts'

/** Another node of the cluster. */
export interface Peer {
  readonly name: string
  /** The addresses of the node, preferred ones first. */
  readonly addresses: readonly string[]
  readonly podRanges: readonly string[]
}

export interface PeerPaths extends PodPaths {
  /** Names of the nodes by the path to them; of a node with several paths, the indirect one. */
  readonly nodes: ReadonlyMap<string, PathKind>
}

/** `isAdjacent` returns whether an address is on a network segment of this machine. */
export function peerPaths(peers: readonly Peer[], isAdjacent: (address: string) => boolean): PeerPaths {
  const routes: PodRoute[] = []
  const tunnels: Tunnel[] = []
  const nodes = new Map<string, PathKind>()
  for (const { name, addresses, podRanges } of peers) {
    const [first] = addresses
    if (first === undefined) continue
    const nextHops: string[] = []
    for (const range of podRanges) {
      const direct = addresses.find((address) => familyOf(address) === familyOf(range) && isAdjacent(address))
      const via = direct ?? nextHopOf(range)
      if (direct === undefined) nextHops.push(via)
      routes.push({ range, via, kind: direct === undefined ? 'vxlan' : 'route' })
    }
    if (nextHops.length > 0)
      tunnels.push({ hardwareAddress: hardwareAddressOf(podRanges), nodeAddress: first, nextHops })
    if (podRanges.length > 0) nodes.set(name, nextHops.length > 0 ? 'vxlan' : 'route')
  }
  return { routes, tunnels, nodes }
}

/** The first address of a range belongs to no pod: it stands for the VXLAN device of the node. */
export function nextHopOf(range: string): string {
  const { family, address } = parseCidr(range)
  return addressText(family, address)
}

/**
 * The hardware address of a node's VXLAN device. It follows from the first pod range, so nodes need not exchange it.
 * `02` marks a locally administered address.
 */
export function hardwareAddressOf([first = '0.0.0.0/32']: readonly string[]): string {
  const { family, address } = parseCidr(first)
  // Ranges of nodes differ in the last bits before the prefix: /64 for IPv6.
  const bits = family === 'IPv4' ? address : (address >> 64n) & 0xffff_ffffn
  const octets = [24n, 16n, 8n, 0n].map((shift) =>
    Number((bits >> shift) & 0xffn)
      .toString(16)
      .padStart(2, '0'),
  )
  return ['02', '58', ...octets].join(':')
}

/** The address of the bridge in a range: the first one after the address of the network. */
export function gatewayOf(range: string): string {
  const { family, address } = parseCidr(range)
  return addressText(family, address + 1n)
}
