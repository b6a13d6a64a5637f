import { cidrOf } from '../../base/net/cidr.ts'
import { isIpv4Address } from '../../base/net/ip-address.ts'
import { parseRemoteIp } from '../../base/net/remote-address.ts'

/**
 * The key under which connections of one client are counted: an IPv4 address, or the /64 network of an IPv6 address,
 * because a single host commonly owns a whole /64.
 */
export function clientKey(remoteAddress: string): string {
  const address = parseRemoteIp(remoteAddress)
  if (address === undefined) return remoteAddress
  return isIpv4Address(address) ? address : cidrOf(address, networkBits)
}

const networkBits = 64
