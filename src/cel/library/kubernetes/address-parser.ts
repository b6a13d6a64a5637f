// IP addresses as bytes, as upstream's functions accept them.
import { ipBytes, isMappedIpv4 } from '../../../base/net/ip-bytes.ts'

/** undefined: not an address. Leading zeros, zones and IPv4-mapped IPv6 addresses are rejected. */
export function parseAddress(text: string): Uint8Array | undefined {
  const bytes = ipBytes(text)
  return bytes === undefined || isMappedIpv4(bytes) ? undefined : bytes
}
