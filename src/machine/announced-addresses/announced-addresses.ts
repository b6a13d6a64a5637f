// AnnouncedAddresses: addresses of load balancers that this machine has for a short time, so that its kernel responds to
// ARP and NDP requests for them. The kernel removes an address that is not set again in time, so a process that was killed
// or stopped leaves nothing behind.
import type { IpAddress } from '../../base/net/ip-address.ts'

export interface AnnouncedAddresses {
  /**
   * Makes this machine respond for these addresses and no others for the next `addressSeconds`, and notifies neighbours
   * of new ones. Addresses that others configured on this machine are not changed. Returns why an address is not set.
   */
  set(addresses: readonly IpAddress[], signal: AbortSignal): Promise<ReadonlyMap<IpAddress, string>>
}

export const addressSeconds = 3
