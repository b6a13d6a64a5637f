// IP addresses as bytes: 4 of IPv4, 16 of IPv6. This is the only parser and the only formatter of addresses.

/** The longest text: eight groups, the last two as an IPv4 address. */
const textCharactersMax = 45
const groupsMax = 8

/**
 * The bytes of an address; undefined if the text is not an address. Octets have no leading zeros, and zones are not
 * allowed. The last two groups of an IPv6 address may be written as an IPv4 address.
 */
export function ipBytes(text: string): Uint8Array | undefined {
  if (text.length > textCharactersMax || text.includes('%')) return undefined
  const read = readIp(text)
  return typeof read === 'string' ? undefined : read
}

/** Whether the text is an address, possibly an IPv4 address in IPv6 notation. */
export const isIp = (text: string): boolean => ipBytes(text) !== undefined

/**
 * The bytes of an address, or why the text is not an address, in the wording of Go's parser. The zone of an IPv6 address is
 * checked and ignored.
 */
export function readIp(text: string): Uint8Array | string {
  switch (/[.:%]/.exec(text)?.[0]) {
    case '.':
      return readIpv4(text)
    case ':':
      return readIpv6(text)
    case '%':
      return 'missing IPv6 address'
    default:
      return 'unable to parse IP'
  }
}

/** The canonical text (RFC 5952) of 4 or 16 bytes. */
export const ipText = (bytes: Uint8Array): string => (bytes.length === 4 ? bytes.join('.') : ipv6Text(bytes))

/** The bytes of the IPv4 address in an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`); undefined for other addresses. */
export const mappedIpv4 = (bytes: Uint8Array): Uint8Array | undefined =>
  bytes.length === 16 && mappedPrefix.every((byte, index) => bytes[index] === byte)
    ? bytes.subarray(mappedPrefix.length)
    : undefined

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** Whether the text is an IPv4 address. Called for every pod status, hence without an allocation. */
export const isIpv4 = (text: string): boolean => ipv4Problem(text) === undefined

const readIpv4 = (text: string): Uint8Array | string =>
  ipv4Problem(text) ?? Uint8Array.from(text.split('.'), (part) => Number(part))

export const zeroCode = 48
export const dotCode = 46

function ipv4Problem(text: string): string | undefined {
  let dots = 0
  let octet = -1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const digit = code - zeroCode
    if (digit >= 0 && digit <= 9) {
      if (octet === 0) return 'IPv4 field has octet with leading zero'
      octet = octet < 0 ? digit : octet * 10 + digit
      if (octet > 255) return 'IPv4 field has value >255'
    } else if (code === dotCode) {
      if (octet < 0 || index === text.length - 1) return `IPv4 field must have at least one digit ${at(text, index)}`
      if (dots === 3) return 'IPv4 address too long'
      dots++
      octet = -1
    } else return `unexpected character ${at(text, index)}`
  }
  return dots < 3 || octet < 0 ? 'IPv4 address too short' : undefined
}

function readIpv6(text: string): Uint8Array | string {
  const percent = text.indexOf('%')
  if (percent === text.length - 1) return 'zone must be a non-empty string'
  let rest = percent < 0 ? text : text.slice(0, percent)
  const groups: number[] = []
  let gapAt: number | undefined
  if (rest.startsWith('::')) {
    gapAt = 0
    rest = rest.slice(2)
  }
  while (rest !== '' && groups.length < groupsMax) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? ''
    if (digits === '') return `each colon-separated field must have at least one digit ${at(rest)}`
    if (rest[digits.length] === '.') {
      if (gapAt === undefined && groups.length !== groupsMax - 2)
        return `embedded IPv4 address must replace the final 2 fields of the address ${at(rest)}`
      if (groups.length > groupsMax - 2)
        return `too many hex fields to fit an embedded IPv4 at the end of the address ${at(rest)}`
      const embedded = readIpv4(rest)
      if (typeof embedded === 'string') return embedded
      const [a = 0, b = 0, c = 0, d = 0] = embedded
      groups.push(a * 256 + b, c * 256 + d)
      rest = ''
      break
    }
    if (digits.length > 4) return `each group must have 4 or less digits ${at(rest)}`
    groups.push(Number.parseInt(digits, 16))
    rest = rest.slice(digits.length)
    if (rest === '') break
    if (rest[0] !== ':') return `unexpected character, want colon ${at(rest)}`
    if (rest.length === 1) return `colon must be followed by more characters ${at(rest)}`
    rest = rest.slice(1)
    if (rest[0] !== ':') continue
    if (gapAt !== undefined) return `multiple :: in address ${at(rest)}`
    gapAt = groups.length
    rest = rest.slice(1)
  }
  if (rest !== '') return `trailing garbage after address ${at(rest)}`
  if (gapAt === undefined && groups.length < groupsMax) return 'address string too short'
  if (gapAt !== undefined && groups.length === groupsMax) return 'the :: must expand to at least one field of zeros'
  return groupBytes(groups, gapAt ?? groupsMax)
}

/** The missing groups are zeros before the group at `gapAt`. */
function groupBytes(groups: readonly number[], gapAt: number): Uint8Array {
  const bytes = new Uint8Array(groupsMax * 2)
  const view = new DataView(bytes.buffer)
  const zeros = groupsMax - groups.length
  for (const [index, group] of groups.entries()) view.setUint16((index < gapAt ? index : index + zeros) * 2, group)
  return bytes
}

/** The position of a problem. */
const at = (text: string, index = 0): string => `(at ${JSON.stringify(text.slice(index))})`

function ipv6Text(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const groups = Array.from({ length: groupsMax }, (_, index) => view.getUint16(index * 2))
  const { start, length } = longestZeros(groups)
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':')
  if (length < 2) return hex(groups)
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  for (let start = 0; start < groups.length; start++) {
    let length = 0
    while (groups[start + length] === 0) length++
    if (length > longest.length) longest = { start, length }
  }
  return longest
}
