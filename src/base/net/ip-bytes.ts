// IP addresses as bytes: 4 of IPv4, 16 of IPv6. This is the only parser and the only formatter of addresses.

/** The longest text: eight groups, the last two as an IPv4 address. */
const textCharactersMax = 45
const groupsMax = 8

/**
 * The bytes of an address; undefined if the text is not an address. Octets have no leading zeros, and zones are not
 * allowed. The last two groups of an IPv6 address may be written as an IPv4 address.
 */
export function ipBytes(text: string): Uint8Array | undefined {
  if (text.length > textCharactersMax) return undefined
  return text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text)
}

/** The canonical text (RFC 5952) of 4 or 16 bytes. */
export const ipText = (bytes: Uint8Array): string => (bytes.length === 4 ? bytes.join('.') : ipv6Text(bytes))

/** Whether these are the bytes of an IPv4 address in an IPv6 address (`::ffff:10.0.0.1`). Programs disagree about its family. */
export const isMappedIpv4 = (bytes: Uint8Array): boolean =>
  bytes.length === 16 && mappedPrefix.every((byte, index) => bytes[index] === byte)

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/** The bytes as one number. */
export function bitsOf(bytes: Uint8Array): bigint {
  let bits = 0n
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte)
  return bits
}

/** The first bits of an address; the rest are zero. */
export const maskedBytes = (bytes: Uint8Array, bits: number): Uint8Array =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))) & 0xff)

const [zero, dot] = [48, 46]

/** Whether the text is an IPv4 address. Called for every pod status, hence without an allocation. */
export function isIpv4(text: string): boolean {
  let [dots, number] = [0, -1]
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit === dot - zero && number >= 0) {
      dots++
      number = -1
    } else if (digit < 0 || digit > 9 || number === 0) return false
    else number = number < 0 ? digit : number * 10 + digit
    if (number > 255) return false
  }
  return dots === 3 && number >= 0
}

export const isIpv6 = (text: string): boolean => text.includes(':') && ipBytes(text) !== undefined

const ipv4Bytes = (text: string): Uint8Array | undefined =>
  isIpv4(text) ? Uint8Array.from(text.split('.'), Number) : undefined

function ipv6Bytes(text: string): Uint8Array | undefined {
  const [head = '', tail, ...rest] = text.split('::')
  if (rest.length > 0) return undefined
  const before = groupsOf(head, tail === undefined)
  const after = tail === undefined ? [] : groupsOf(tail, true)
  if (before === undefined || after === undefined) return undefined
  const zeros = groupsMax - before.length - after.length
  if (tail === undefined ? zeros !== 0 : zeros < 1) return undefined
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  for (const [index, group] of before.entries()) view.setUint16(index * 2, group)
  for (const [index, group] of after.entries()) view.setUint16((before.length + zeros + index) * 2, group)
  return bytes
}

/** Groups of 16 bits; an IPv4 address is allowed at the end of the whole address. */
function groupsOf(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    const embedded = isEnd && index === parts.length - 1 && part.includes('.') ? ipv4Bytes(part) : undefined
    if (embedded !== undefined) {
      const [a = 0, b = 0, c = 0, d = 0] = embedded
      groups.push(a * 256 + b, c * 256 + d)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups
}

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
