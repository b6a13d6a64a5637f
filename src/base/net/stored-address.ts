// Addresses and CIDRs of stored objects. The API server rejects leading zeros and IPv4 addresses in IPv6 notation, but objects
// may have been stored before it did. They are read as upstream's components read them.
import { parseCidr, type Cidr } from './cidr.ts'
import { ipBytes, ipText, isMappedIpv4 } from './ip-bytes.ts'
import { parseIp, type IpAddress } from './ip-address.ts'

/** Longer texts are no addresses, however many zeros they have. */
const textCharactersMax = 64

/** undefined: not an address. `010.0.0.1` is `10.0.0.1`, and so is `::ffff:10.0.0.1`. */
export function parseStoredIp(text: string): IpAddress | undefined {
  if (text.length > textCharactersMax) return undefined
  const bytes = ipBytes(withoutZeros(text))
  if (bytes === undefined) return undefined
  return parseIp(ipText(isMappedIpv4(bytes) ? bytes.subarray(mappedBits / 8) : bytes))
}

const mappedBits = 96

/** undefined: not a CIDR. `10.0.0.0/008` is `10.0.0.0/8`, and `::ffff:10.0.0.0/104` is, too. */
export function parseStoredCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  if (slash < 0 || text.length > textCharactersMax) return undefined
  const [host, length] = [text.slice(0, slash), text.slice(slash + 1)]
  const address = parseStoredIp(host)
  if (address === undefined || !/^\d+$/.test(length)) return undefined
  const isMapped = host.includes(':') && !address.includes(':')
  return parseCidr(`${address}/${Number(length) - (isMapped ? mappedBits : 0)}`)
}

/** The addresses among the texts, in their order, each once. */
export const parseStoredIps = (texts: Iterable<string>): readonly IpAddress[] => [
  ...new Set(Array.from(texts, parseStoredIp).filter((address) => address !== undefined)),
]

/** The text of an IPv4 address without leading zeros; other texts as they are. */
const withoutZeros = (text: string): string =>
  /^\d+(?:\.\d+){3}$/.test(text) ? text.split('.').map(Number).join('.') : text
