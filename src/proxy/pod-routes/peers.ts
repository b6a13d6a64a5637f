// The other nodes of the cluster, as far as their objects can be used. A Node is written by the node itself: it must neither
// redirect traffic of others nor keep the paths to other nodes from being set.
import type { Node } from '../../api/core/v1/node/node.ts'
import { isLoopbackAddress, isUnicastAddress } from '../../base/net/address-kind.ts'
import { cidrContains, parseCidr, parseCidrs, type Cidr } from '../../base/net/cidr.ts'
import { DisjointRanges } from '../../base/net/disjoint-ranges.ts'
import { parseIp, type IpAddress } from '../../base/net/ip-address.ts'
import type { MacAddress } from '../../base/net/mac-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { shownValue } from '../../base/text/shown-value.ts'
import { hardwareAddressOf, type Peer } from './peer-paths.ts'

/** What this node knows without other nodes. */
export interface OwnNetwork {
  readonly nodeName: string
  /** The pod ranges of this node. */
  readonly podRanges: readonly Cidr[]
  readonly serviceRanges: readonly Cidr[]
  /** The ranges of all pods of the cluster; empty if they are not known. */
  readonly clusterRanges: readonly Cidr[]
  /** The networks of this machine's interfaces, without those of pods. */
  readonly interfaceRanges: () => readonly Cidr[]
}

export interface Peers {
  /** In the order of their names. */
  readonly peers: readonly Peer[]
  /** Why a node, or one of its addresses, is ignored. */
  readonly problems: ReadonlyMap<Node, PeerProblem>
}

export interface PeerProblem {
  readonly reason: 'InvalidNodeAddress' | 'InvalidPodCIDR'
  readonly message: string
}

/** Further addresses of a node are not tried. */
const addressesPerNodeMax = 16

/** Addresses that no pod has. */
const specialRanges = parseCidrs([
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'],
  ...['::1/128', 'fe80::/10', 'ff00::/8'],
])

/**
 * The other nodes with pod ranges and addresses. Loopback addresses lead to no other machine. Of two nodes with the same
 * addresses of pods, the older one has them: ranges cannot be changed once they are assigned.
 */
export function peersOf(nodes: Iterable<Node>, own: OwnNetwork): Peers {
  const problems = new Map<Node, PeerProblem>()
  const peers: Peer[] = []
  const claims = new RangeClaims(own)
  for (const node of inOrderOfAge(nodes, own.nodeName)) {
    const { name } = node.metadata
    const claimed = claims.claim(name, node.spec.podCIDRs ?? [])
    if (claimed === undefined) continue
    if (typeof claimed === 'string') {
      problems.set(node, { reason: 'InvalidPodCIDR', message: claimed })
      continue
    }
    const { addresses, invalid } = addressesOf(node)
    if (invalid !== undefined) {
      const message = `the address ${shownValue(invalid)} is ignored: it is not the IP address of a machine`
      problems.set(node, { reason: 'InvalidNodeAddress', message })
    }
    if (addresses.length > 0) peers.push({ name, addresses, podRanges: claimed })
  }
  return { peers: peers.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

type PodRanges = Peer['podRanges']

/** The ranges of nodes, and those to which no path to a node may lead. */
class RangeClaims {
  readonly #clusterRanges: readonly Cidr[]
  readonly #reserved: DisjointRanges<string>
  readonly #taken = new DisjointRanges<string>()
  /** Names of nodes by the addresses of their VXLAN devices, which follow from ranges. */
  readonly #hardware = new Map<MacAddress, string>()

  constructor({ nodeName, podRanges, serviceRanges, clusterRanges, interfaceRanges }: OwnNetwork) {
    const named = (what: string, ranges: readonly Cidr[]) =>
      ranges.map((range) => ({ range, value: `${what} (${range})` }))
    this.#clusterRanges = clusterRanges
    this.#reserved = DisjointRanges.of([
      ...named('the addresses of Services', serviceRanges),
      ...named('the pods of this node', podRanges),
      ...named('a network of this machine', interfaceRanges()),
      ...named('special addresses', specialRanges),
    ])
    const [first, ...others] = podRanges
    if (first !== undefined) this.#hardware.set(hardwareAddressOf([first, ...others]), nodeName)
  }

  /** The ranges of a node, or why they are ignored; undefined if it has none. */
  claim(nodeName: string, texts: readonly string[]): PodRanges | string | undefined {
    const ranges: Cidr[] = []
    for (const text of texts) {
      const range = parseCidr(text)
      const problem = range === undefined ? 'it is not a CIDR' : this.#conflictOf(range, ranges)
      if (problem !== undefined) return `the pod range ${shownValue(text)} is ignored: ${problem}`
      if (range !== undefined) ranges.push(range)
    }
    const [first, ...others] = ranges
    if (first === undefined) return undefined
    const podRanges: PodRanges = [first, ...others]
    const hardwareAddress = hardwareAddressOf(podRanges)
    const holder = this.#hardware.get(hardwareAddress)
    if (holder !== undefined)
      return `the pod range ${first} is ignored: its VXLAN device would have the address of that of the node ${holder}`
    this.#hardware.set(hardwareAddress, nodeName)
    for (const range of podRanges) this.#taken.add(range, nodeName)
    return podRanges
  }

  /** Why a path to the range would redirect traffic of others; undefined if it would not. */
  #conflictOf(range: Cidr, others: readonly Cidr[]): string | undefined {
    const reserved = this.#reserved.overlapping(range)
    if (reserved !== undefined) return `it overlaps ${reserved}`
    if (this.#clusterRanges.length > 0 && !this.#clusterRanges.some((each) => cidrContains(each, range)))
      return `it is not one of the pod ranges of the cluster (${this.#clusterRanges.join(', ')})`
    const holder = this.#taken.overlapping(range)
    if (holder !== undefined) return `it overlaps a range of the older node ${holder}`
    return others.some((each) => familyOf(each) === familyOf(range)) ? 'a node has one range of each family' : undefined
  }
}

function addressesOf({ status }: Node): {
  readonly addresses: readonly IpAddress[]
  readonly invalid: string | undefined
} {
  const texts = (status.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .slice(0, addressesPerNodeMax)
    .map(({ address }) => address)
  const parsed = texts.map((text) => ({ text, address: parseIp(text) }))
  const isUsable = (address: IpAddress | undefined): address is IpAddress =>
    address !== undefined && isUnicastAddress(address)
  return {
    addresses: parsed
      .map(({ address }) => address)
      .filter(isUsable)
      .filter((address) => !isLoopbackAddress(address)),
    invalid: parsed.find(({ address }) => !isUsable(address))?.text,
  }
}

const inOrderOfAge = (nodes: Iterable<Node>, nodeName: string): readonly Node[] => {
  const age = ({ metadata }: Node) => `${metadata.creationTimestamp} ${metadata.uid} ${metadata.name}`
  return [...nodes]
    .filter(({ metadata }) => metadata.name !== nodeName)
    .map((node) => ({ node, age: age(node) }))
    .toSorted((a, b) => (a.age < b.age ? -1 : 1))
    .map(({ node }) => node)
}
