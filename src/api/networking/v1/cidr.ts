// CIDR blocks as numbers: containment and overlap.
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

export const widthOf = (family: Cidr['family']): number => (family === 'IPv4' ? 32 : 128)

export const cidrText = ({ family, address, prefixLength }: Cidr): string =>
  `${addressText(family, address)}/${prefixLength}`

export function addressText(family: Cidr['family'], address: bigint): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((address >> BigInt(112 - index * 16)) & 0xffffn).toString(16))
  // The first of the longest runs of zero groups is omitted, unless it is a single group.
  // linear: the text has eight groups.
  const runs = [...groups.join(':').matchAll(/\b0(:0)+\b/g)].toSorted((a, b) => b[0].length - a[0].length)
  const [longest] = runs
  if (longest === undefined) return groups.join(':')
  const text = groups.join(':')
  const [head, tail] = [text.slice(0, longest.index), text.slice(longest.index + longest[0].length)]
  return `${head.replace(/:$/, '')}::${tail.replace(/^:/, '')}`
}

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

function addressBits(text: string): bigint {
  if (isIpV4(text)) return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
  const [head = [], tail] = text.split('::').map(groupsOf)
  const last = tail ?? []
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - head.length - last.length }, () => 0n)
  return [...head, ...zeros, ...last].reduce((bits, group) => (bits << 16n) | group, 0n)
}

/** A trailing IPv4 address replaces two groups. */
const groupsOf = (text: string): bigint[] =>
  text === ''
    ? []
    : text.split(':').flatMap((group) => {
        if (!group.includes('.')) return [BigInt(`0x${group}`)]
        const bits = addressBits(group)
        return [bits >> 16n, bits & 0xffffn]
      })
