// IpAddress: the text of an IP address that was parsed. An address has one spelling, so equal addresses are equal texts.
import type { Brand } from '../brand.ts'
import type { AddressFamily } from '../text/address-family.ts'
import { bitsOf, ipBytes, ipText, isIpv4, isMappedIpv4 } from './ip-bytes.ts'

export type Ipv4Address = Brand<string, 'Ipv4Address'>
/** In the form of RFC 5952. Never an IPv4 address in IPv6 notation. */
export type Ipv6Address = Brand<string, 'Ipv6Address'>
export type IpAddress = Ipv4Address | Ipv6Address

/** undefined: not an address. Leading zeros, zones and IPv4-mapped IPv6 addresses are rejected. */
export function parseIp(text: string): IpAddress | undefined {
  // An IPv4 address has one form. The text itself is returned, because components hold thousands of addresses.
  if (!text.includes(':')) return isIpv4(text) ? (text as Ipv4Address) : undefined
  const bytes = ipBytes(text)
  return bytes === undefined || isMappedIpv4(bytes) ? undefined : (ipText(bytes) as Ipv6Address)
}

/** For addresses of this program's own configuration. */
export function mustParseIp(text: string): IpAddress {
  const address = parseIp(text)
  if (address === undefined) throw new Error(`${JSON.stringify(text)} is not an IP address`)
  return address
}

/** The addresses among the texts, in their order, each once. */
export const parseIps = (texts: Iterable<string>): readonly IpAddress[] => [
  ...new Set(Array.from(texts, parseIp).filter((address) => address !== undefined)),
]

export const isIpv4Address = (address: IpAddress): address is Ipv4Address => !address.includes(':')

export const bitsIn = (family: AddressFamily): 32 | 128 => (family === 'IPv4' ? 32 : 128)

/** The address as a number. */
export const addressBits = (address: IpAddress): bigint => bitsOf(ipBytes(address) ?? new Uint8Array())

/** `bits` is a number of 32 or 128 bits. */
export function addressOfBits(family: AddressFamily, bits: bigint): IpAddress {
  const bytes = new Uint8Array(bitsIn(family) / 8)
  for (let at = bytes.length - 1, rest = bits; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn)
  return ipText(bytes) as IpAddress
}

const isLoopbackBytes = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, index) => byte === (index === 15 ? 1 : 0))

export const isLoopbackAddress = (address: IpAddress): boolean => isLoopbackBytes(ipBytes(address) ?? new Uint8Array())

/** `0.0.0.0` or `::`. */
export const isUnspecifiedAddress = (address: IpAddress): boolean => addressBits(address) === 0n

/** An address that one machine can have: not `0.0.0.0`, not `::`, not multicast and not the broadcast address. */
export function isUnicastAddress(address: IpAddress): boolean {
  const bytes = ipBytes(address) ?? new Uint8Array()
  const isMulticast = bytes.length === 4 ? (bytes[0] ?? 0) >= 224 : bytes[0] === 0xff
  return !isMulticast && bytes.some((byte) => byte !== 0)
}
