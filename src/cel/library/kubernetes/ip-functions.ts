// Functions of IP addresses and CIDR ranges.
import { ipText, maskedBytes } from '../../../base/net/ip-bytes.ts'
import { global, member, type Functions, type Overload } from '../../environment/function.ts'
import { boolType, intType, opaque, stringType } from '../../types/cel-type.ts'
import { compareBytes } from '../../values/equality.ts'
import { EvalError, noSuchOverload } from '../../values/eval-error.ts'
import { Opaque } from '../../values/value.ts'
import { addressProblem, rangeProblem } from './address-problem.ts'
import { parseAddress } from './address-parser.ts'

export const ipType = opaque('net.IP')
export const cidrType = opaque('net.CIDR')

export class Ip extends Opaque {
  readonly type = ipType
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    super()
    this.bytes = bytes
  }

  equals(other: Opaque): boolean {
    return other instanceof Ip && compareBytes(other.bytes, this.bytes) === 0
  }
}

export class Cidr extends Opaque {
  readonly type = cidrType
  readonly bytes: Uint8Array
  readonly prefix: number

  constructor(bytes: Uint8Array, prefix: number) {
    super()
    this.bytes = bytes
    this.prefix = prefix
  }

  equals(other: Opaque): boolean {
    return other instanceof Cidr && other.prefix === this.prefix && compareBytes(other.bytes, this.bytes) === 0
  }

  contains(bytes: Uint8Array): boolean {
    const isSameFamily = bytes.length === this.bytes.length
    return isSameFamily && compareBytes(maskedBytes(bytes, this.prefix), maskedBytes(this.bytes, this.prefix)) === 0
  }
}

function ip(text: string): Ip {
  const bytes = parseAddress(text)
  if (bytes === undefined) throw new EvalError(addressError(text))
  return new Ip(bytes)
}

function addressError(text: string): string {
  const problem = addressProblem(text)
  if (problem !== undefined)
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${problem}`
  return text.includes('%')
    ? `IP address ${JSON.stringify(text)} with zone value is not allowed`
    : `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`
}

function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix = '', ...more] = text.split('/')
  const bytes = parseAddress(address)
  if (bytes === undefined || more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined
  return Number(prefix) <= bytes.length * 8 ? new Cidr(bytes, Number(prefix)) : undefined
}

const rangeError = 'network address parse error during conversion from string:'

function cidr(text: string): Cidr {
  const parsed = parseCidr(text)
  if (parsed !== undefined) return parsed
  const problem = rangeProblem(text)
  throw new EvalError(
    problem === undefined
      ? `${rangeError} IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`
      : `${rangeError} ${rangeError} ${problem}`,
  )
}

/** The address of a text argument; its error does not say why. */
function containedAddress(text: string): Uint8Array {
  const bytes = parseAddress(text)
  if (bytes === undefined) throw noSuchOverload()
  return bytes
}

const isCanonical = (text: string): boolean => ipText(ip(text).bytes) === text
const cidrText = ({ bytes, prefix }: Cidr): string => `${ipText(bytes)}/${prefix}`

const isUnspecified = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)
const isLoopback = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? bytes[0] === 127 : bytes.at(-1) === 1 && bytes.slice(0, -1).every((byte) => byte === 0)
const isLinkLocalUnicast = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80
const isLinkLocalMulticast = (bytes: Uint8Array): boolean =>
  bytes.length === 4
    ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
    : bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02
const isMulticast = (bytes: Uint8Array): boolean =>
  bytes.length === 4 ? ((bytes[0] ?? 0) & 0xf0) === 0xe0 : bytes[0] === 0xff
const isGlobalUnicast = (bytes: Uint8Array): boolean =>
  ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast].some((is) => is(bytes)) &&
  !(bytes.length === 4 && bytes.every((byte) => byte === 255))

const asked = (id: string, is: (bytes: Uint8Array) => boolean): readonly Overload[] => [
  member(id, [ipType], boolType, ({ bytes }: Ip) => is(bytes)),
]

const containsCidr = (outer: Cidr, inner: Cidr): boolean => inner.prefix >= outer.prefix && outer.contains(inner.bytes)

export const ipFunctions: Functions = {
  ip: [
    global('string_to_ip', [stringType], ipType, ip),
    member('cidr_ip', [cidrType], ipType, ({ bytes }: Cidr) => new Ip(bytes)),
  ],
  isIP: [global('is_ip', [stringType], boolType, (text: string) => parseAddress(text) !== undefined)],
  'ip.isCanonical': [global('ip_is_canonical', [stringType], boolType, isCanonical)],
  string: [
    global('ip_to_string', [ipType], stringType, ({ bytes }: Ip) => ipText(bytes)),
    global('cidr_to_string', [cidrType], stringType, cidrText),
  ],
  family: [member('ip_family', [ipType], intType, ({ bytes }: Ip) => (bytes.length === 4 ? 4n : 6n))],
  isUnspecified: asked('ip_is_unspecified', isUnspecified),
  isLoopback: asked('ip_is_loopback', isLoopback),
  isLinkLocalMulticast: asked('ip_is_link_local_multicast', isLinkLocalMulticast),
  isLinkLocalUnicast: asked('ip_is_link_local_unicast', isLinkLocalUnicast),
  isGlobalUnicast: asked('ip_is_global_unicast', isGlobalUnicast),
  cidr: [global('string_to_cidr', [stringType], cidrType, cidr)],
  isCIDR: [global('is_cidr', [stringType], boolType, (text: string) => parseCidr(text) !== undefined)],
  containsIP: [
    member('cidr_contains_ip_ip', [cidrType, ipType], boolType, (range: Cidr, { bytes }: Ip) => range.contains(bytes)),
    member('cidr_contains_ip_string', [cidrType, stringType], boolType, (range: Cidr, text: string) =>
      range.contains(containedAddress(text)),
    ),
  ],
  containsCIDR: [
    member('cidr_contains_cidr', [cidrType, cidrType], boolType, containsCidr),
    member('cidr_contains_cidr_string', [cidrType, stringType], boolType, (range: Cidr, text: string) =>
      containsCidr(range, cidr(text)),
    ),
  ],
  masked: [
    member(
      'cidr_masked',
      [cidrType],
      cidrType,
      ({ bytes, prefix }: Cidr) => new Cidr(maskedBytes(bytes, prefix), prefix),
    ),
  ],
  prefixLength: [member('cidr_prefix_length', [cidrType], intType, ({ prefix }: Cidr) => BigInt(prefix))],
}
