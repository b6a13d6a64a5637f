// PodNetwork: the network of the pods on this machine: the bridge, the paths to pods of other nodes, and masquerading.

export type PathKind = 'route' | 'vxlan'

export interface PodRoute {
  readonly range: string
  readonly via: string
  readonly kind: PathKind
}

/** A node behind the VXLAN device: the hardware address of its device, and the address of the node. */
export interface Tunnel {
  readonly hardwareAddress: string
  readonly nodeAddress: string
  /** The next hops of its pod ranges. */
  readonly nextHops: readonly string[]
}

/** The paths to the pods of other nodes. */
export interface PodPaths {
  readonly routes: readonly PodRoute[]
  readonly tunnels: readonly Tunnel[]
}

/** A pod range of this node. */
export interface OwnRange {
  readonly range: string
  /** The address of the bridge. */
  readonly gateway: string
  /** The address that stands for the VXLAN device. */
  readonly tunnelAddress: string
}

export interface PodNetworkOptions {
  readonly bridge: string
  /** At most one per address family. */
  readonly ranges: readonly OwnRange[]
  /** The hardware address of the VXLAN device. Other nodes derive it from the ranges. */
  readonly hardwareAddress: string
  /** The address from which this machine reaches other nodes. */
  readonly nodeAddress: string
  /** The addresses of Services. */
  readonly serviceRanges: readonly string[]
}

export interface PodNetwork {
  /** Creates the bridge with the gateway address of each range, and the rules for traffic to outside. */
  prepare(signal: AbortSignal): Promise<void>
  /** Those of the addresses that are on a network segment of this machine, so that no router is needed. */
  adjacent(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>
  /** Brings routes and tunnels into this state. What others have configured is not changed. */
  setPaths(paths: PodPaths, signal: AbortSignal): Promise<void>
  /** The firewall that drops forwarded packets, in words; undefined if none does. */
  forwardingBlockedBy(signal: AbortSignal): Promise<string | undefined>
}

/** The name of our nftables table for the node; the service proxy has its own. */
export const nodeTable = 'coxswain-node'
export const tunnelDevice = 'coxswain-vx'
