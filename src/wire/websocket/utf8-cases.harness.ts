// The byte sequences of the Autobahn cases 6.5 to 6.23, which are those of Markus Kuhn's UTF-8 decoder test.

type Sequence = readonly [id: string, bytes: Uint8Array]

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text)
/** The characters of a range, with a space after each. */
const apart = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `${(from + index).toString(16)}20`).join('')

const continuations = Array.from({ length: 0xbf - 0x80 }, (_, index) => (0x80 + index).toString(16)).join('')
/** Sequences that lack their last byte. */
const incomplete = [
  ...['c0', 'e080', 'f08080', 'f8808080', 'fc80808080'],
  ...['df', 'efbf', 'f7bfbf', 'fbbfbfbf', 'fdbfbfbfbf'],
]
const kosme = 'cebae1bdb9cf83cebcceb5'
/** The prefixes of `kosme` that end between two characters, by length. */
const wholePrefixes: ReadonlySet<number> = new Set([2, 5, 7, 9, 11])
const prefixes = Array.from({ length: kosme.length / 2 }, (_, index) => index + 1)

/** By the number of the group; noncharacters are valid. */
const valid: Readonly<Record<string, readonly string[]>> = {
  '6.5': ['68656c6c6f24776f726c64', '68656c6c6fc2a2776f726c64', '68656c6c6fe282ac776f726c64', 'f0a4ada2', kosme],
  '6.6': prefixes.filter((length) => wholePrefixes.has(length)).map((length) => kosme.slice(0, length * 2)),
  '6.7': ['00', 'c280', 'e0a080', 'f0908080'],
  '6.9': ['7f', 'dfbf', 'efbfbf', 'f48fbfbf'],
  '6.11': ['ed9fbf', 'ee8080', 'efbfbd', 'f48fbfbf'],
  '6.22': ['efbfbe', 'efbfbf', ...noncharacters()],
  '6.23': ['efbfb9', 'efbfba', 'efbfbb', 'efbfbc', 'efbfbd', 'efbfbe', 'efbfbf'],
}

const invalid: Readonly<Record<string, readonly string[]>> = {
  '6.6': prefixes.filter((length) => !wholePrefixes.has(length)).map((length) => kosme.slice(0, length * 2)),
  '6.8': ['f888808080', 'fc8480808080'],
  '6.10': ['f7bfbfbf', 'fbbfbfbfbf', 'fdbfbfbfbfbf'],
  '6.11': ['f4908080'],
  '6.12': ['80', 'bf', '80bf', '80bf80', '80bf80bf', '80bf80bf80', '80bf80bf80bf', continuations],
  '6.13': [apart(0xc0, 0xdf), apart(0xe0, 0xef), apart(0xf0, 0xf7), apart(0xf8, 0xfb), apart(0xfc, 0xfd)],
  '6.14': incomplete,
  '6.15': [incomplete.join('')],
  '6.16': ['fe', 'ff', 'fefeffff'],
  '6.17': ['c0af', 'e080af', 'f08080af', 'f8808080af', 'fc80808080af'],
  '6.18': ['c1bf', 'e09fbf', 'f08fbfbf', 'f887bfbfbf', 'fc83bfbfbfbf'],
  '6.19': ['c080', 'e08080', 'f0808080', 'f880808080', 'fc8080808080'],
  '6.20': ['eda080', 'edadbf', 'edae80', 'edafbf', 'edb080', 'edbe80', 'edbfbf'],
  '6.21': ['eda080', 'edadbf', 'edae80', 'edafbf'].flatMap((high) => [`${high}edb080`, `${high}edbfbf`]),
}

/** The last two code points of each plane above the first. */
function noncharacters(): string[] {
  return Array.from({ length: 16 }, (_, plane) => [0xfffe, 0xffff].map((low) => (plane + 1) * 0x1_0000 + low))
    .flat()
    .map((point) => new TextEncoder().encode(String.fromCodePoint(point)).toHex())
}

const sequences = (groups: typeof valid): Sequence[] =>
  Object.entries(groups).flatMap(([group, texts]) => texts.map((text) => [`${group} ${text}`, hex(text)] as const))

export const validUtf8 = sequences(valid)
export const invalidUtf8 = sequences(invalid)
