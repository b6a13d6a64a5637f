// PodNetwork: the network of the pods on this machine: the bridge, the paths to pods of other nodes, and masquerading.
import type { Cidr } from '../../base/net/cidr.ts'
import { mustParseInterfaceName, type InterfaceName } from '../../base/net/interface-name.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import type { MacAddress } from '../../base/net/mac-address.ts'

export type PathKind = 'route' | 'vxlan'

export interface PodRoute {
  readonly range: Cidr
  readonly via: IpAddress
  readonly kind: PathKind
}

/** A node behind the VXLAN device: the hardware address of its device, and the address of the node. */
export interface Tunnel {
  readonly hardwareAddress: MacAddress
  readonly nodeAddress: IpAddress
  /** The next hops of its pod ranges. */
  readonly nextHops: readonly IpAddress[]
}

/** The paths to the pods of other nodes. */
export interface PodPaths {
  readonly routes: readonly PodRoute[]
  readonly tunnels: readonly Tunnel[]
}

/** A pod range of this node. */
export interface OwnRange {
  readonly range: Cidr
  /** The address of the bridge. */
  readonly gateway: IpAddress
  /** The address that stands for the VXLAN device. */
  readonly tunnelAddress: IpAddress
}

export interface PodNetworkOptions {
  readonly bridge: InterfaceName
  /** At most one per address family. */
  readonly ranges: readonly OwnRange[]
  /** The hardware address of the VXLAN device. Other nodes derive it from the ranges. */
  readonly hardwareAddress: MacAddress
  /** The address from which this machine reaches other nodes. */
  readonly nodeAddress: IpAddress
  /** The addresses of Services. */
  readonly serviceRanges: readonly Cidr[]
}

export interface PodNetwork {
  /** Creates the bridge with the gateway address of each range, and the rules for traffic to outside. */
  prepare(signal: AbortSignal): Promise<void>
  /** Those of the addresses that are on a network segment of this machine, so that no router is needed. */
  adjacent(addresses: readonly IpAddress[], signal: AbortSignal): Promise<ReadonlySet<IpAddress>>
  /**
   * Brings routes and tunnels into this state. What others have configured is not changed. Returns the ranges whose path the
   * kernel does not accept, and why; the others are set nevertheless.
   */
  setPaths(paths: PodPaths, signal: AbortSignal): Promise<ReadonlyMap<Cidr, string>>
  /** The firewall that drops forwarded packets, in words; undefined if none does. */
  forwardingBlockedBy(signal: AbortSignal): Promise<string | undefined>
}

/** The name of our nftables table for the node; the service proxy has its own. */
export const nodeTable = 'coxswain-node'
export const tunnelDevice = mustParseInterfaceName('coxswain-vx')
