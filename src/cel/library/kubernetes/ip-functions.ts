// Functions of IP addresses and CIDR ranges.
import {
  isGlobalUnicastAddress,
  isLinkLocalAddress,
  isLinkLocalMulticastAddress,
  isLoopbackAddress,
  isUnspecifiedAddress,
} from '../../../base/net/address-kind.ts'
import { cidrContains, cidrHasAddress, cidrOf, networkAddressOf, parsePrefix } from '../../../base/net/cidr.ts'
import { isIpv4Address, parseIp, type IpAddress } from '../../../base/net/ip-address.ts'
import { global, member, type Functions, type Overload } from '../../environment/function.ts'
import { boolType, intType, opaque, stringType } from '../../types/cel-type.ts'
import { EvalError, noSuchOverload } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'
import { addressError, rangeError } from './address-errors.ts'

export const ipType = opaque('net.IP')
export const cidrType = opaque('net.CIDR')

export class Ip extends Opaque {
  readonly type = ipType
  readonly address: IpAddress

  constructor(address: IpAddress) {
    super()
    this.address = address
  }

  equals(other: Opaque): boolean {
    return other instanceof Ip && other.address === this.address
  }
}

/** Bits of the address after the prefix are kept, unless it is `masked()`. */
export class Cidr extends Opaque {
  readonly type = cidrType
  readonly address: IpAddress
  readonly prefix: number

  constructor(address: IpAddress, prefix: number) {
    super()
    this.address = address
    this.prefix = prefix
  }

  get range(): ReturnType<typeof cidrOf> {
    return cidrOf(this.address, this.prefix)
  }

  equals(other: Opaque): boolean {
    return other instanceof Cidr && other.prefix === this.prefix && other.address === this.address
  }
}

function ip(text: string): Ip {
  const address = parseIp(text)
  if (address === undefined) throw new EvalError(addressError(text))
  return new Ip(address)
}

function cidr(text: string): Cidr {
  const prefix = parsePrefix(text)
  if (prefix === undefined) throw new EvalError(rangeError(text))
  return new Cidr(prefix.address, prefix.length)
}

/** The address of a text argument; its error does not say why. */
function containedAddress(text: string): IpAddress {
  const address = parseIp(text)
  if (address === undefined) throw noSuchOverload()
  return address
}

const isCanonical = (text: string): boolean => ip(text).address === text

const asked = (id: string, is: (address: IpAddress) => boolean): readonly Overload[] => [
  member(id, [ipType], boolType, ({ address }: Ip) => is(address)),
]

export const ipFunctions: Functions = {
  ip: [
    global('string_to_ip', [stringType], ipType, ip),
    member('cidr_ip', [cidrType], ipType, ({ address }: Cidr) => new Ip(address)),
  ],
  isIP: [global('is_ip', [stringType], boolType, (text: string) => parseIp(text) !== undefined)],
  'ip.isCanonical': [global('ip_is_canonical', [stringType], boolType, isCanonical)],
  string: [
    global('ip_to_string', [ipType], stringType, ({ address }: Ip) => address),
    global('cidr_to_string', [cidrType], stringType, ({ address, prefix }: Cidr) => `${address}/${prefix}`),
  ],
  family: [member('ip_family', [ipType], intType, ({ address }: Ip) => (isIpv4Address(address) ? 4n : 6n))],
  isUnspecified: asked('ip_is_unspecified', isUnspecifiedAddress),
  isLoopback: asked('ip_is_loopback', isLoopbackAddress),
  isLinkLocalMulticast: asked('ip_is_link_local_multicast', isLinkLocalMulticastAddress),
  isLinkLocalUnicast: asked('ip_is_link_local_unicast', isLinkLocalAddress),
  isGlobalUnicast: asked('ip_is_global_unicast', isGlobalUnicastAddress),
  cidr: [global('string_to_cidr', [stringType], cidrType, cidr)],
  isCIDR: [global('is_cidr', [stringType], boolType, (text: string) => parsePrefix(text) !== undefined)],
  containsIP: [
    member('cidr_contains_ip_ip', [cidrType, ipType], boolType, ({ range }: Cidr, { address }: Ip) =>
      cidrHasAddress(range, address),
    ),
    member('cidr_contains_ip_string', [cidrType, stringType], boolType, ({ range }: Cidr, text: string) =>
      cidrHasAddress(range, containedAddress(text)),
    ),
  ],
  containsCIDR: [
    member('cidr_contains_cidr', [cidrType, cidrType], boolType, ({ range }: Cidr, inner: Cidr) =>
      cidrContains(range, inner.range),
    ),
    member('cidr_contains_cidr_string', [cidrType, stringType], boolType, ({ range }: Cidr, text: string) =>
      cidrContains(range, cidr(text).range),
    ),
  ],
  masked: [
    member('cidr_masked', [cidrType], cidrType, ({ range, prefix }: Cidr) => new Cidr(networkAddressOf(range), prefix)),
  ],
  prefixLength: [member('cidr_prefix_length', [cidrType], intType, ({ prefix }: Cidr) => BigInt(prefix))],
}
