// IP addresses as text and as the bytes of A and AAAA records.
import { ipBytes, ipText, isIpv4 } from '../../base/net/ip-bytes.ts'

export { ipBytes as addressBytes, ipText as addressText } from '../../base/net/ip-bytes.ts'

/** The canonical text of an address, also of IPv4 in IPv6 notation; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  // An IPv4 address has one form. The text itself is returned, because a zone keeps thousands of addresses.
  if (!text.includes(':')) return isIpv4(text) ? text : undefined
  const bytes = ipBytes(text)
  return bytes && ipText(bytes)
}
