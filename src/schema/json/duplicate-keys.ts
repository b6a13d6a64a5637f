// Keys that stand twice in one object of a JSON text: JSON.parse keeps the last and says nothing.
// Every body that is written pays for the search, so it is one pass that only compares hashes; what that pass finds
// suspicious is looked at again, slowly and exactly. The text is valid JSON: it has been parsed before.

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Keys of open objects that are compared; with more of them the text is looked at exactly. */
const comparedMax = 256
/** Shared: nothing waits while a text is searched. */
const hashes = new Int32Array(comparedMax)

/** False when no object of the JSON in these bytes has a key twice; true when one may have. */
export function mayHaveDuplicateKeys(bytes: Uint8Array): boolean {
  // How many keys of open objects there are, and where those of the innermost one begin; in a list that is -1.
  let [count, start] = [0, -1]
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

/** Where the string ends that begins here; a quote behind an odd number of backslashes does not end it. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from); ; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (before >= from && text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at
  }
}

/** As upstream: more are not counted. */
const strictErrorsMax = 100
/** Deeper than any field of an API type: what stands there is anybody's JSON. */
const depthMax = 100

/** What strict decoding finds wrong, each once and in the order of the text. */
export function strictErrors(unknownFields: readonly string[], json?: Uint8Array): readonly string[] {
  const mayRepeat = json !== undefined && mayHaveDuplicateKeys(json)
  if (!mayRepeat && unknownFields.length === 0) return unknownFields
  const errors = mayRepeat
    ? inOrder(new TextDecoder().decode(json), new Set(unknownFields))
    : new Set(unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`))
  return [...errors].slice(0, strictErrorsMax)
}

/** An object or list that is open while the text is read. */
interface Place {
  readonly path: string
  /** The keys so far; undefined in a list. */
  readonly keys: Set<string> | undefined
  /** Inside a field that is not known nothing is looked at. */
  readonly isPassedOver: boolean
  index: number
}

function inOrder(text: string, unknown: ReadonlySet<string>): Set<string> {
  const errors = new Set<string>()
  const open: Place[] = []
  let [path, isPassedOver, isKey] = ['', false, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const place = open.at(-1)
    if (code === quote) {
      const end = stringEnd(text, at + 1)
      if (isKey && place?.keys !== undefined && !place.isPassedOver) {
        const name = JSON.parse(text.slice(at, end + 1)) as string
        path = place.path === '' ? name : `${place.path}.${name}`
        isPassedOver = unknown.has(path)
        if (isPassedOver) errors.add(`unknown field ${JSON.stringify(path)}`)
        else if (place.keys.has(name)) errors.add(`duplicate field ${JSON.stringify(path)}`)
        place.keys.add(name)
      }
      isKey = false
      at = end
    } else if (code === openBrace || code === openBracket) {
      isKey = code === openBrace
      const at = place?.keys === undefined && place !== undefined ? `${place.path}[${place.index}]` : path
      const passOver = place?.isPassedOver === true || isPassedOver || open.length >= depthMax
      open.push({ path: passOver ? '' : at, keys: isKey ? new Set() : undefined, isPassedOver: passOver, index: 0 })
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
