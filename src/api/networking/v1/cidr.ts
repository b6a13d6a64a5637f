// CIDR blocks as numbers: containment and overlap.
import { addressOfBits, bitsIn } from '../../../base/net/ip-address.ts'
import { bitsOf, ipBytes } from '../../../base/net/ip-bytes.ts'
import { isIpV4 } from '../../validation/network-rules.ts'

export interface Cidr {
  readonly family: 'IPv4' | 'IPv6'
  /** The address of the network; bits after the prefix are zero. */
  readonly address: bigint
  readonly prefixLength: number
}

/** `text` is a valid CIDR. */
export function parseCidr(text: string): Cidr {
  const [address = '', length = ''] = text.split('/')
  const family = isIpV4(address) ? 'IPv4' : 'IPv6'
  const prefixLength = Number(length)
  const hostBits = BigInt(widthOf(family) - prefixLength)
  return { family, address: (addressBits(address) >> hostBits) << hostBits, prefixLength }
}

export const widthOf: (family: Cidr['family']) => number = bitsIn

const addressBits = (text: string): bigint => bitsOf(ipBytes(text) ?? new Uint8Array())

export const cidrText = ({ family, address, prefixLength }: Cidr): string =>
  `${addressText(family, address)}/${prefixLength}`

export const addressText: (family: Cidr['family'], address: bigint) => string = addressOfBits

/** For names and ranges that must have one spelling. `text` is a valid address. */
export function canonicalIpErrors(text: string): string[] {
  const { family, address } = parseCidr(`${text}/${isIpV4(text) ? 32 : 128}`)
  const canonical = addressText(family, address)
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

/** As `canonicalIpErrors`, for a valid CIDR. */
export function canonicalCidrErrors(text: string): string[] {
  const { family, address, prefixLength } = parseCidr(text)
  const [host = ''] = text.split('/')
  if (parseCidr(`${host}/${widthOf(family)}`).address !== address)
    return ['must not have bits set beyond the prefix length']
  const canonical = cidrText({ family, address, prefixLength })
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
}

/** Whether they have addresses in common. */
export function overlaps(one: Cidr, other: Cidr): boolean {
  if (one.family !== other.family) return false
  const hostBits = BigInt(widthOf(one.family) - Math.min(one.prefixLength, other.prefixLength))
  return one.address >> hostBits === other.address >> hostBits
}

export const isStrictSubset = (inner: Cidr, outer: Cidr): boolean =>
  inner.prefixLength > outer.prefixLength && overlaps(inner, outer)

export const containsCidr = (outer: Cidr, inner: Cidr): boolean =>
  inner.prefixLength >= outer.prefixLength && overlaps(inner, outer)
