// IP addresses as text and as the bytes of A and AAAA records.
import { isIpV4 } from '../../api/validation/network-rules.ts'

/** The 4 or 16 bytes of an address; undefined if the text is not an address. */
export function addressBytes(text: string): Uint8Array | undefined {
  return text.includes(':') ? ipV6Bytes(text) : ipV4Bytes(text)
}

/** The canonical text (RFC 5952) of 4 or 16 bytes. */
export const addressText = (bytes: Uint8Array): string => (bytes.length === 4 ? bytes.join('.') : ipV6Text(bytes))

/** The canonical text of an address; undefined if the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  // An IPv4 address has one form. The text itself is returned, because a zone keeps thousands of addresses.
  if (!text.includes(':')) return isIpV4(text) ? text : undefined
  const bytes = ipV6Bytes(text)
  return bytes && addressText(bytes)
}

const [zero, dot] = [48, 46]

function ipV4Bytes(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4)
  let [part, number] = [0, -1]
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? dot : text.charCodeAt(at)
    if (code === dot) {
      if (number < 0 || part > 3) return undefined
      bytes[part++] = number
      number = -1
      continue
    }
    const digit = code - zero
    if (digit < 0 || digit > 9 || number === 0) return undefined
    number = number < 0 ? digit : number * 10 + digit
    if (number > 255) return undefined
  }
  return part === 4 ? bytes : undefined
}

const groupsMax = 8
/** The longest text: eight groups, the last two as an IPv4 address. */
const ipV6TextMax = 45

function ipV6Bytes(text: string): Uint8Array | undefined {
  if (text.length > ipV6TextMax) return undefined
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
    const embedded = isEnd && index === parts.length - 1 && part.includes('.') ? ipV4Bytes(part) : undefined
    if (embedded !== undefined) {
      const [a = 0, b = 0, c = 0, d = 0] = embedded
      groups.push(a * 256 + b, c * 256 + d)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups.length > groupsMax ? undefined : groups
}

function ipV6Text(bytes: Uint8Array): string {
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
