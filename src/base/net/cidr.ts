// Cidr: the text of a CIDR that was parsed. Bits after the prefix are zero, so equal ranges are equal texts.
import type { Brand } from '../brand.ts'
import { familyOf } from './address-family.ts'
import { addressBits, addressOfBits, bitsIn, parseIp, type IpAddress } from './ip-address.ts'

export type Cidr = Brand<string, 'Cidr'>

/** An address and the length of a prefix: a CIDR whose bits after the prefix are kept. */
export interface Prefix {
  readonly address: IpAddress
  readonly length: number
}

/** undefined: not a CIDR. The address is parsed as by `parseIp`; the prefix length has no leading zeros. */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseIp(text.slice(0, slash))
  const length = text.slice(slash + 1)
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined
  return Number(length) <= bitsIn(familyOf(address)) ? { address, length: Number(length) } : undefined
}

/** As `parsePrefix`. Bits of the address after the prefix are cleared, because objects may have them (`10.0.0.1/8`). */
export function parseCidr(text: string): Cidr | undefined {
  const prefix = parsePrefix(text)
  return prefix && cidrOf(prefix.address, prefix.length)
}

/** For ranges of this program's own configuration. */
export function mustParseCidr(text: string): Cidr {
  const cidr = parseCidr(text)
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not a CIDR`)
  return cidr
}

/** The CIDRs among the texts, in their order, each once. */
export const parseCidrs = (texts: Iterable<string>): readonly Cidr[] => [
  ...new Set(Array.from(texts, parseCidr).filter((cidr) => cidr !== undefined)),
]

/** The range of the address. `prefixLength` is at most the number of its bits. */
export function cidrOf(address: IpAddress, prefixLength: number): Cidr {
  const family = familyOf(address)
  const hostBits = BigInt(bitsIn(family) - prefixLength)
  return `${addressOfBits(family, (addressBits(address) >> hostBits) << hostBits)}/${prefixLength}` as Cidr
}

/** How many addresses the range has. */
export const cidrSize = (cidr: Cidr): bigint => 1n << BigInt(bitsIn(familyOf(cidr)) - prefixLengthOf(cidr))

/** The range of one address. */
export const cidrOfAddress = (address: IpAddress): Cidr => `${address}/${bitsIn(familyOf(address))}` as Cidr

/** The first address of the range. */
export const networkAddressOf = (cidr: Cidr): IpAddress => cidr.slice(0, cidr.indexOf('/')) as IpAddress

export const prefixLengthOf = (cidr: Cidr): number => Number(cidr.slice(cidr.indexOf('/') + 1))

/** The address at an offset from the first one. The range has it. */
export const addressAt = (cidr: Cidr, offset: bigint): IpAddress =>
  addressOfBits(familyOf(cidr), addressBits(networkAddressOf(cidr)) + offset)

/** The first and the last address of the range, as numbers. */
export function cidrBounds(cidr: Cidr): { readonly first: bigint; readonly last: bigint } {
  const first = addressBits(networkAddressOf(cidr))
  const hostBits = BigInt(bitsIn(familyOf(cidr)) - prefixLengthOf(cidr))
  return { first, last: first | ((1n << hostBits) - 1n) }
}

/** Whether the ranges have addresses in common. */
export function cidrsOverlap(one: Cidr, other: Cidr): boolean {
  if (familyOf(one) !== familyOf(other)) return false
  const a = cidrBounds(one)
  const b = cidrBounds(other)
  return a.first <= b.last && b.first <= a.last
}

/** Whether `outer` has all addresses of `inner`. */
export const cidrContains = (outer: Cidr, inner: Cidr): boolean =>
  prefixLengthOf(outer) <= prefixLengthOf(inner) && cidrsOverlap(outer, inner)

export function cidrHasAddress(cidr: Cidr, address: IpAddress): boolean {
  if (familyOf(cidr) !== familyOf(address)) return false
  const { first, last } = cidrBounds(cidr)
  const bits = addressBits(address)
  return first <= bits && bits <= last
}
