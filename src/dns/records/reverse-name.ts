import { parseIp } from '../../base/net/ip-address.ts'
import { ipText } from '../../base/net/ip-bytes.ts'
// Names of PTR records: an address in reverse below in-addr.arpa or ip6.arpa.

const ipV4Suffix = '.in-addr.arpa'
const ipV6Suffix = '.ip6.arpa'
const nibbles = 32

/** The canonical address of a reverse name; undefined for other names and for parts of an address. */
export function addressOfReverseName(name: string): string | undefined {
  if (name.endsWith(ipV4Suffix)) return parseIp(reversedLabels(name, ipV4Suffix).join('.'))
  if (!name.endsWith(ipV6Suffix)) return undefined
  const digits = reversedLabels(name, ipV6Suffix).join('')
  // Every label is one digit: 32 digits and 31 dots.
  if (name.length !== nibbles * 2 - 1 + ipV6Suffix.length || !/^[0-9a-f]{32}$/.test(digits)) return undefined
  return parseIp(ipText(Uint8Array.fromHex(digits)))
}

const reversedLabels = (name: string, suffix: string): string[] => name.slice(0, -suffix.length).split('.').toReversed()
