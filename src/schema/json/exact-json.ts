// JSON whose 64-bit integers keep their value. An int64 that a double does not represent exactly is a bigint; every other
// number is a number. JSON.parse and JSON.stringify do the work: only a text that may contain such an integer is read with a
// reviver, and only a value that contains one is written with a replacer.
import { int64 } from '../scalar/int64.ts'

/** A shorter integer is exact as a double: 2^53 has 16 digits. */
const exactDigitsMax = 15
const longDigitsMin = exactDigitsMax + 1

/** JSON.parse with exact integers. */
export const parseJson = (text: string): unknown =>
  mayHaveLongInteger(text) ? parse(text, exactValue) : (JSON.parse(text) as unknown)

/**
 * A run of 16 digits includes one position in 16, so only these are read. Most runs in strings, such as names, do not begin where
 * a number can.
 */
function mayHaveLongInteger(text: string): boolean {
  for (let at = longDigitsMin - 1; at < text.length; at += longDigitsMin) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    let end = at + 1
    while (isDigit(text.charCodeAt(start - 1))) start--
    while (isDigit(text.charCodeAt(end))) end++
    if (end - start >= longDigitsMin && mayPrecedeNumber(text.charCodeAt(start - 1))) return true
    // No digit is read twice, however long the run is.
    at = end
  }
  return false
}

/** The start of the text, a separator, a minus sign or white space. */
const mayPrecedeNumber = (code: number): boolean =>
  Number.isNaN(code) || code === 0x3a || code === 0x2c || code === 0x5b || code === 0x2d || code <= 0x20

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** As parseJson. A number beyond the range of a double, such as 1e400, is a NumberRangeError. */
export const parseJsonInRange = (text: string): unknown =>
  mayExceedDouble.test(text) ? parse(text, exactValue) : parseJson(text)

// linear: a number does not contain what may precede one.
const mayExceedDouble = /(?:^|[:,[\s])-?(?:\d{309}|\d+(?:\.\d+)?[eE]\+?\d{3})/

export class NumberRangeError extends Error {
  override name = 'NumberRangeError'
  readonly text: string

  constructor(text: string) {
    super(`json: cannot unmarshal number ${text} into Go value of type float64`)
    this.text = text
  }
}

/** The number of this JSON text. An integer beyond 64 bits is a double, as in Go's maps. */
export function numberOf(text: string): number | bigint {
  const value = Number(text)
  if (!Number.isFinite(value)) throw new NumberRangeError(text)
  return Number.isSafeInteger(value) ? value : (int64(text) ?? value)
}

/** Missing in TypeScript's library: the third argument of a reviver, and raw JSON. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(text: string): unknown
}

const exactValue: Reviver = (_, value, { source }) =>
  typeof value === 'number' && source !== undefined ? numberOf(source) : value

/** JSON.stringify with exact integers. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    // A bigint is the only value that is written differently, and the native encoder rejects it.
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, rawInteger)
  }
}

const rawInteger = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? rawJSON(String(value)) : value)
