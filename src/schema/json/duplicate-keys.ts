// Duplicate keys in one object of a JSON text, of which JSON.parse silently keeps the last.
// Every written body is searched, so the first pass only compares hashes; if it finds a possible duplicate, the text is
// scanned again exactly. The text is valid JSON, because it has been parsed before.

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** The maximum number of compared keys of open objects; with more the text is scanned exactly. */
const comparedMax = 256
/** Shared, because the search is synchronous. */
const hashes = new Int32Array(comparedMax)

/** False when no object in these bytes has a duplicate key; true when one may have. */
export function mayHaveDuplicateKeys(bytes: Uint8Array): boolean {
  // The number of keys of open objects, and the start of those of the innermost one; -1 in a list.
  let count = 0
  let start = -1
  const starts: number[] = []
  let isKey = false
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at++]
    if (byte === quote) {
      if (!isKey) {
        for (let inside = bytes[at++] ?? quote; inside !== quote; inside = bytes[at++] ?? quote)
          if (inside === backslash) at++
        continue
      }
      let hash = 0
      for (let inside = bytes[at++] ?? quote; inside !== quote; inside = bytes[at++] ?? quote) {
        if (inside === backslash) return true
        hash = (Math.imul(hash, 31) + inside) | 0
      }
      for (let index = start; index < count; index++) if (hashes[index] === hash) return true
      if (count === comparedMax) return true
      hashes[count++] = hash
      isKey = false
    } else if (byte === comma) isKey = start >= 0
    else if (byte === openBrace || byte === openBracket) {
      starts.push(start)
      isKey = byte === openBrace
      start = isKey ? count : -1
    } else if (byte === closeBrace || byte === closeBracket) {
      if (start >= 0) count = start
      start = starts.pop() ?? -1
      isKey = false
    }
  }
  return false
}

/** The end of the string that begins here; a quote after an odd number of backslashes does not end it. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from); ; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (before >= from && text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
}

/** Upstream's bound: further ones are not reported. */
const strictErrorsMax = 100
/** Deeper than any field of an API type: JSON of any form. */
const depthMax = 100

/** The errors of strict decoding, each once and in the order of the text. */
export function strictErrors(unknownFields: readonly string[], json?: Uint8Array): readonly string[] {
  const mayRepeat = json !== undefined && mayHaveDuplicateKeys(json)
  if (!mayRepeat && unknownFields.length === 0) return unknownFields
  const errors = mayRepeat
    ? inOrder(new TextDecoder().decode(json), new Set(unknownFields))
    : new Set(unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`))
  return [...errors].slice(0, strictErrorsMax)
}

/** An open object or list during the scan. */
interface Place {
  readonly path: string
  /** The keys so far; undefined in a list. */
  readonly keys: Set<string> | undefined
  /** The content of an unknown field is not checked. */
  readonly isPassedOver: boolean
  index: number
}

function inOrder(text: string, unknown: ReadonlySet<string>): Set<string> {
  const errors = new Set<string>()
  const open: Place[] = []
  let name = ''
  let isPassedOver = false
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const place = open.at(-1)
    if (code === quote) {
      const end = stringEnd(text, at + 1)
      if (isKey && place?.keys !== undefined && !place.isPassedOver) {
        name = keyOf(text.slice(at + 1, end))
        isPassedOver = unknown.size > 0 && unknown.has(fieldPath(place, name))
        if (isPassedOver) errors.add(`unknown field ${JSON.stringify(fieldPath(place, name))}`)
        else if (place.keys.has(name)) errors.add(`duplicate field ${JSON.stringify(fieldPath(place, name))}`)
        place.keys.add(name)
      }
      isKey = false
      at = end
    } else if (code === openBrace || code === openBracket) {
      isKey = code === openBrace
      const passOver = place?.isPassedOver === true || isPassedOver || open.length >= depthMax
      const path = passOver ? '' : valuePath(place, name)
      open.push({ path, keys: isKey ? new Set() : undefined, isPassedOver: passOver, index: 0 })
      isPassedOver = false
    } else if (code === closeBrace || code === closeBracket) {
      open.pop()
      isKey = false
    } else if (code === comma && place !== undefined) {
      isKey = place.keys !== undefined
      isPassedOver = false
      place.index++
    }
  }
  return errors
}

const keyOf = (written: string): string => (written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written)

const fieldPath = ({ path }: Place, name: string): string => (path === '' ? name : `${path}.${name}`)

/** The path of the value at hand: an item of a list, or the field with this name. */
function valuePath(place: Place | undefined, name: string): string {
  if (place === undefined) return ''
  return place.keys === undefined ? `${place.path}[${place.index}]` : fieldPath(place, name)
}
