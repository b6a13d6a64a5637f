// IpAddress: the text of an IP address that was parsed. An address has one spelling, so equal addresses are equal texts.
import type { Brand } from '../brand.ts'
import { familyOf, type AddressFamily } from './address-family.ts'
import { dotCode, ipBytes, ipText, isIpv4, mappedIpv4, zeroCode } from './ip-bytes.ts'

export type Ipv4Address = Brand<string, 'Ipv4Address'>
/** In the form of RFC 5952. Never an IPv4 address in IPv6 notation. */
export type Ipv6Address = Brand<string, 'Ipv6Address'>
export type IpAddress = Ipv4Address | Ipv6Address

/** undefined: not an address. Leading zeros, zones and IPv4-mapped IPv6 addresses are rejected. */
export function parseIp(text: string): IpAddress | undefined {
  // An IPv4 address has one form. The text itself is returned, because components hold thousands of addresses.
  if (!text.includes(':')) return isIpv4(text) ? (text as Ipv4Address) : undefined
  const bytes = ipBytes(text)
  return bytes === undefined || mappedIpv4(bytes) !== undefined ? undefined : (ipText(bytes) as Ipv6Address)
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

export const isIpv4Address = (address: IpAddress): address is Ipv4Address => familyOf(address) === 'IPv4'

export const bitsIn = (family: AddressFamily): 32 | 128 => (family === 'IPv4' ? 32 : 128)

/** Four or sixteen bytes. */
export const addressBytes = (address: IpAddress): Uint8Array => ipBytes(address) ?? new Uint8Array()

/** The address as a number. */
export function addressBits(address: IpAddress): bigint {
  if (isIpv4Address(address)) return BigInt(ipv4Number(address))
  let bits = 0n
  for (const byte of addressBytes(address)) bits = (bits << 8n) | BigInt(byte)
  return bits
}

/** Allocators compare thousands of addresses, hence without an allocation. */
function ipv4Number(address: Ipv4Address): number {
  let number = 0
  let octet = 0
  for (let at = 0; at < address.length; at++) {
    const code = address.charCodeAt(at)
    if (code === dotCode) {
      number = number * 256 + octet
      octet = 0
    } else octet = octet * 10 + code - zeroCode
  }
  return number * 256 + octet
}

/** `bits` is a number of 32 or 128 bits. */
export function addressOfBits(family: AddressFamily, bits: bigint): IpAddress {
  const bytes = new Uint8Array(bitsIn(family) / 8)
  for (let at = bytes.length - 1, rest = bits; at >= 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn)
  return ipText(bytes) as IpAddress
}
