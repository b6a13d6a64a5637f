import { ipBytes, ipText, isMappedIpv4, maskedBytes } from '../../base/net/ip-bytes.ts'

/**
 * The key under which connections of one client are counted: an IPv4 address, or the /64 network of an IPv6 address,
 * because a single host commonly owns a whole /64.
 */
export function clientKey(address: string): string {
  if (!address.includes(':')) return address
  const [withoutZone = ''] = address.split('%', 1)
  const bytes = ipBytes(withoutZone)
  if (bytes === undefined) return address
  return isMappedIpv4(bytes) ? ipText(bytes.subarray(12)) : `${ipText(maskedBytes(bytes, networkBits))}/${networkBits}`
}

const networkBits = 64
