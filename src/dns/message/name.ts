// Domain names on the wire: labels with lengths, and pointers to an earlier name in the message (RFC 1035, 4.1.4).

/** Bytes of a name, including lengths and the root. */
export const nameBytesMax = 255
export const labelBytesMax = 63
/** A name has at most 127 labels, so a longer chain of pointers is hostile. */
const pointersMax = 127
const pointerMark = 0xc0
/** A pointer has 14 bits. */
export const pointerOffsetMax = 0x3fff

export interface ReadName {
  /** In presentation format and lower case. */
  readonly name: string
  /** The position after the name. */
  readonly next: number
}

/** Each byte as it appears in a name: in lower case, escaped if it is not plain. */
const characters: readonly string[] = Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (character === '.' || character === '\\') return `\\${character}`
  return code > 0x20 && code < 0x7f ? character.toLowerCase() : `\\${String(code).padStart(3, '0')}`
})

/**
 * Reads the name at the position; undefined if it is malformed. A pointer must lead to an earlier position than the name
 * or pointer before it, so reading always ends.
 */
export function readName(message: Uint8Array, start: number, allowsPointers = true): ReadName | undefined {
  let name = ''
  let at = start
  let next = -1
  let bytes = 1
  let pointers = 0
  let floor = start
  for (;;) {
    const length = message[at]
    if (length === undefined) return undefined
    if (length === 0) return { name, next: next < 0 ? at + 1 : next }
    if (length >= pointerMark) {
      const low = message[at + 1]
      if (!allowsPointers || low === undefined || ++pointers > pointersMax) return undefined
      const target = ((length & 0x3f) << 8) | low
      if (target >= floor) return undefined
      if (next < 0) next = at + 2
      at = floor = target
      continue
    }
    bytes += length + 1
    if (length > labelBytesMax || bytes > nameBytesMax || at + length >= message.length) return undefined
    if (name !== '') name += '.'
    const end = at + length
    while (at < end) name += characters[message[++at] as number]
    at++
  }
}

const backslash = 0x5c
const dot = 0x2e

/** Where the first label of a name in presentation format ends: the position of its dot, or the length of the name. */
export function labelEnd(name: string, start: number): number {
  let at = start
  while (at < name.length) {
    const code = name.charCodeAt(at)
    if (code === dot) return at
    at += code === backslash ? 2 : 1
  }
  return name.length
}

/** Writes the label from `start` to `end` without its length; returns the position after it. */
export function writeLabel(target: Uint8Array, at: number, name: string, start: number, end: number): number {
  let position = at
  for (let index = start; index < end; index++) {
    let code = name.charCodeAt(index)
    if (code === backslash) {
      const digits = name.slice(index + 1, index + 4)
      if (/^\d{3}$/.test(digits)) {
        code = Number(digits)
        index += 3
      } else code = name.charCodeAt(++index)
    }
    target[position++] = code
  }
  return position
}
