// Conntrack: the connections that the kernel tracks. The kernel has no connections for UDP, only recent packets of the same
// addresses and ports; while they continue, they keep the destination that the first of them got.
import type { IpAddress } from '../../base/net/ip-address.ts'

/** Selects the tracked UDP packets of clients to one address and port. */
export interface UdpFlows {
  readonly family: 'IPv4' | 'IPv6'
  /** The address to which clients send. */
  readonly address: IpAddress
  readonly port: number
  /** Only those that are sent to this address and port, which are the client's destination if it is not translated. */
  readonly endpoint: { readonly address: IpAddress; readonly port: number }
}

export interface Conntrack {
  /** All that are tracked, each set of flows once. */
  udpFlows(signal: AbortSignal): Promise<readonly UdpFlows[]>
  /** Forgets the flows, so that the next packet gets a new destination. */
  remove(flows: UdpFlows, signal: AbortSignal): Promise<void>
}
