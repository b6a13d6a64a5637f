// Encodes the ASN.1 types of certificates as DER.

export type Der = Uint8Array<ArrayBuffer>

const utf8 = new TextEncoder()

export function tagged(tag: number, content: Uint8Array): Der {
  const length = lengthBytes(content.length)
  const der = new Uint8Array(1 + length.length + content.length)
  der[0] = tag
  der.set(length, 1)
  der.set(content, 1 + length.length)
  return der
}

export const sequence = (...items: Uint8Array[]): Der => tagged(0x30, joined(items))
export const set = (...items: Uint8Array[]): Der => tagged(0x31, joined(items))
export const boolean = (value: boolean): Der => tagged(0x01, Uint8Array.of(value ? 0xff : 0))
export const octetString = (content: Uint8Array): Der => tagged(0x04, content)
export const bitString = (content: Uint8Array, unusedBits = 0): Der =>
  tagged(0x03, joined([Uint8Array.of(unusedBits), content]))
export const utf8String = (text: string): Der => tagged(0x0c, utf8.encode(text))
/** [n] EXPLICIT, or [n] IMPLICIT of a constructed type. */
export const explicit = (n: number, content: Uint8Array): Der => tagged(0xa0 | n, content)
/** [n] IMPLICIT of a primitive type. */
export const implicit = (n: number, content: Uint8Array): Der => tagged(0x80 | n, content)

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const minimal = bytes.subarray(start)
  return tagged(0x02, (minimal[0] ?? 0) & 0x80 ? joined([Uint8Array.of(0), minimal]) : minimal)
}

export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(0x06, Uint8Array.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5). */
export function time(ms: number): Der {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')
  const year = new Date(ms).getUTCFullYear()
  return year < 2050 ? tagged(0x17, utf8.encode(digits.slice(2))) : tagged(0x18, utf8.encode(digits))
}

export function joined(parts: readonly Uint8Array[]): Der {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256)
  return [0x80 | bytes.length, ...bytes]
}

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left % 128) | 0x80)
  return bytes
}
