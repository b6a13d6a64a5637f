// CIDR blocks as numbers: which block lies in which.
import { isIpV4 } from '../../network-rules.ts'

export interface Cidr {
  readonly family: 'IPv4' | 'IPv6'
  /** The network's address; bits beyond the prefix are cut off. */
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

const widthOf = (family: Cidr['family']): number => (family === 'IPv4' ? 32 : 128)

export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.family !== outer.family || inner.prefixLength <= outer.prefixLength) return false
  const hostBits = BigInt(widthOf(outer.family) - outer.prefixLength)
  return inner.address >> hostBits === outer.address >> hostBits
}

function addressBits(text: string): bigint {
  if (isIpV4(text)) return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
  const [head = [], tail] = text.split('::').map(groupsOf)
  const last = tail ?? []
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - head.length - last.length }, () => 0n)
  return [...head, ...zeros, ...last].reduce((bits, group) => (bits << 16n) | group, 0n)
}

/** An IPv4 address at the end stands for two groups. */
const groupsOf = (text: string): bigint[] =>
  text === ''
    ? []
    : text.split(':').flatMap((group) => {
        if (!group.includes('.')) return [BigInt(`0x${group}`)]
        const bits = addressBits(group)
        return [bits >> 16n, bits & 0xffffn]
      })
