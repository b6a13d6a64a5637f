// AddressPool: the addresses that load balancers get, parsed from `10.0.0.240-10.0.0.250,fd00::/120`.
import type { Service } from '../../api/core/v1/service/service.ts'
import { addressText, parseCidr, widthOf } from '../../api/networking/v1/cidr.ts'
import { cidrErrors, isIp } from '../../api/validation/network-rules.ts'
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'

interface AddressRange {
  readonly family: AddressFamily
  readonly first: bigint
  readonly last: bigint
}

/** A Service may name this class, or none. */
export const addressPoolClass = 'coxswain.dev/address-pool'

export const isPooled = ({ spec }: Service): boolean =>
  spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? addressPoolClass) === addressPoolClass

const rangesMax = 100

export class AddressPool {
  readonly #ranges: readonly AddressRange[]

  constructor(ranges: readonly AddressRange[]) {
    this.#ranges = ranges
  }

  /** Throws an Error that names the invalid range. */
  static parse(text: string): AddressPool {
    const parts = text.split(',').map((part) => part.trim())
    if (parts.length > rangesMax) throw new Error(`there are more than ${rangesMax} ranges`)
    return new AddressPool(parts.map(parseRange))
  }

  has(family: AddressFamily): boolean {
    return this.#ranges.some((range) => range.family === family)
  }

  contains(address: string): boolean {
    const [family, bits] = [familyOf(address), bitsOf(address)]
    return this.#ranges.some((range) => range.family === family && range.first <= bits && bits <= range.last)
  }

  /** The first address of the family that is not used. Tries at most one address more than are used. */
  firstFree(family: AddressFamily, isUsed: (address: string) => boolean): string | undefined {
    for (const { family: own, first, last } of this.#ranges) {
      if (own !== family) continue
      for (let bits = first; bits <= last; bits++) {
        const address = addressText(family, bits)
        if (!isUsed(address)) return address
      }
    }
    return undefined
  }
}

/** The one spelling of an address that is used in status and comparisons. */
export const canonicalAddress = (address: string): string => addressText(familyOf(address), bitsOf(address))

function parseRange(text: string): AddressRange {
  if (text.includes('/')) return cidrRange(text)
  const [from = '', to = from, ...more] = text.split('-')
  if (more.length > 0 || !isIp(from) || !isIp(to) || familyOf(from) !== familyOf(to))
    throw new Error(`${JSON.stringify(text)} is neither an address, nor two addresses a-b, nor a CIDR`)
  const range = { family: familyOf(from), first: bitsOf(from), last: bitsOf(to) }
  if (range.first > range.last) throw new Error(`${JSON.stringify(text)} ends before it begins`)
  return range
}

/** Without the addresses of the network and of broadcasts, which routers and hosts treat specially. */
function cidrRange(text: string): AddressRange {
  if (cidrErrors(text).length > 0) throw new Error(`${JSON.stringify(text)} is not a CIDR`)
  const { family, address, prefixLength } = parseCidr(text)
  const size = 1n << BigInt(widthOf(family) - prefixLength)
  const isLarge = size > 2n
  return {
    family,
    first: isLarge ? address + 1n : address,
    last: address + size - (isLarge && family === 'IPv4' ? 2n : 1n),
  }
}

const bitsOf = (address: string): bigint => parseCidr(`${address}/${widthOf(familyOf(address))}`).address
