// AddressPool: the addresses that load balancers get, parsed from `10.0.0.240-10.0.0.250,fd00::/120`.
import type { Service } from '../../api/core/v1/service/service.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { cidrBounds, cidrSize } from '../../base/net/cidr.ts'
import { addressBits, addressOfBits, type IpAddress } from '../../base/net/ip-address.ts'
import { parseCidrSloppy, parseIpSloppy } from '../../base/net/sloppy-address.ts'

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
    const parsed = parseIpSloppy(address)
    if (parsed === undefined) return false
    const bits = addressBits(parsed)
    const family = familyOf(parsed)
    return this.#ranges.some((range) => range.family === family && range.first <= bits && bits <= range.last)
  }

  /** The first address of the family that is not used. Tries at most one address more than are used. */
  firstFree(family: AddressFamily, isUsed: (address: IpAddress) => boolean): IpAddress | undefined {
    for (const { family: own, first, last } of this.#ranges) {
      if (own !== family) continue
      for (let bits = first; bits <= last; bits++) {
        const address = addressOfBits(family, bits)
        if (!isUsed(address)) return address
      }
    }
    return undefined
  }
}

function parseRange(text: string): AddressRange {
  if (text.includes('/')) return cidrRange(text)
  const [from = '', to = from, ...more] = text.split('-')
  const first = parseIpSloppy(from)
  const last = parseIpSloppy(to)
  if (more.length > 0 || first === undefined || last === undefined || familyOf(first) !== familyOf(last))
    throw new Error(`${JSON.stringify(text)} is neither an address, nor two addresses a-b, nor a CIDR`)
  const range = { family: familyOf(first), first: addressBits(first), last: addressBits(last) }
  if (range.first > range.last) throw new Error(`${JSON.stringify(text)} ends before it begins`)
  return range
}

/** Without the addresses of the network and of broadcasts, which routers and hosts treat specially. */
function cidrRange(text: string): AddressRange {
  const cidr = parseCidrSloppy(text)
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not a CIDR`)
  const family = familyOf(cidr)
  const { first, last } = cidrBounds(cidr)
  const isLarge = cidrSize(cidr) > 2n
  return { family, first: isLarge ? first + 1n : first, last: isLarge && family === 'IPv4' ? last - 1n : last }
}
