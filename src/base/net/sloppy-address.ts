// Addresses and CIDRs as upstream's ParseIPSloppy and ParseCIDRSloppy read them. The API server rejects leading zeros and IPv4
// addresses in IPv6 notation in most fields, but objects may have been stored before it did, and flags and older fields
// allow them.
import { cidrOf, parseCidr, type Cidr } from './cidr.ts'
import { ipBytes, ipText, mappedIpv4 } from './ip-bytes.ts'
import { parseIp, type IpAddress } from './ip-address.ts'

/** Longer texts are no addresses, however many zeros they have. */
const textCharactersMax = 64

/** undefined: not an address. `010.0.0.1` is `10.0.0.1`, and so is `::ffff:10.0.0.1`. */
export function parseIpSloppy(text: string): IpAddress | undefined {
  const strict = parseIp(text)
  if (strict !== undefined) return strict
  const bytes = bytesOf(text)
  return bytes && parseIp(ipText(mappedIpv4(bytes) ?? bytes))
}

export const isIpSloppy = (text: string): boolean => bytesOf(text) !== undefined

/** The addresses among the texts, in their order, each once. */
export const parseIpsSloppy = (texts: Iterable<string>): readonly IpAddress[] => [
  ...new Set(Array.from(texts, parseIpSloppy).filter((address) => address !== undefined)),
]

/**
 * undefined: not a CIDR. `10.0.0.0/008` is `10.0.0.0/8`, and `::ffff:10.0.0.0/104` is, too. A shorter prefix of an IPv4 address
 * in IPv6 notation is a range of no family.
 */
export function parseCidrSloppy(text: string): Cidr | undefined {
  const strict = parseCidr(text)
  if (strict !== undefined) return strict
  const read = readCidr(text)
  const address = read && parseIp(ipText(mappedIpv4(read.bytes) ?? read.bytes))
  if (read === undefined || address === undefined) return undefined
  const length = mappedIpv4(read.bytes) === undefined ? read.length : read.length - mappedBits
  return length < 0 ? undefined : cidrOf(address, length)
}

/** Whether upstream's parser accepts it: also a short prefix of an IPv4 address in IPv6 notation. */
export const isCidrSloppy = (text: string): boolean => readCidr(text) !== undefined

/** The CIDRs among the texts, in their order, each once. */
export const parseCidrsSloppy = (texts: Iterable<string>): readonly Cidr[] => [
  ...new Set(Array.from(texts, parseCidrSloppy).filter((cidr) => cidr !== undefined)),
]

const mappedBits = 96

function readCidr(text: string): { readonly bytes: Uint8Array; readonly length: number } | undefined {
  const slash = text.indexOf('/')
  if (slash < 0 || text.length > textCharactersMax) return undefined
  const bytes = bytesOf(text.slice(0, slash))
  const length = text.slice(slash + 1)
  if (bytes === undefined || !/^\d+$/.test(length) || Number(length) > bytes.length * 8) return undefined
  return { bytes, length: Number(length) }
}

const bytesOf = (text: string): Uint8Array | undefined =>
  text.length > textCharactersMax ? undefined : ipBytes(withoutZeros(text))

/** The text of an IPv4 address without leading zeros; other texts as they are. */
const withoutZeros = (text: string): string =>
  /^\d+(?:\.\d+){3}$/.test(text) ? text.split('.').map(Number).join('.') : text
