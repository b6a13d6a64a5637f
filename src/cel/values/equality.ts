// Equality and order across types: numbers are compared by value whatever their type, values of other types are unequal.
import { codePoints } from './code-points.ts'
import { MapValue, Opaque, Optional, TypeValue, Uint, type ListValue, type Value } from './value.ts'
import { EvalError } from './eval-error.ts'
import { KeyedList } from './keyed-lists.ts'
import { Duration, Timestamp } from './time-values.ts'

export const isList = (value: Value): value is ListValue => Array.isArray(value)

/** A number for the comparison operators; undefined for other values. */
export function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  return value instanceof Uint ? value.value : undefined
}

/** The maximum number of values in one comparison: a value that contains a list many times is larger than its memory. */
const comparedMax = 1_000_000

class Comparison {
  #left = comparedMax

  count(): void {
    if (--this.#left < 0) throw new EvalError(`comparison exceeds ${comparedMax} values`)
  }
}

export const equals = (a: Value, b: Value): boolean => equal(a, b, undefined)

function equal(a: Value, b: Value, within: Comparison | undefined): boolean {
  if (a === b) return typeof a !== 'number' || !Number.isNaN(a)
  if (typeof a === 'string' || typeof a === 'boolean' || a === null) return false
  const x = numberOf(a)
  const y = numberOf(b)
  if (x !== undefined) return y !== undefined && compareNumbers(x, y) === 0
  if (a instanceof KeyedList) return isList(b) && a.isEqual(b, (one, other) => equal(one, other, within))
  if (isList(a)) return isList(b) && equalLists(a, b, within ?? new Comparison())
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(a, b, within ?? new Comparison())
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b)
  return a instanceof Opaque && b instanceof Opaque && a.equals(b)
}

function equalLists(a: ListValue, b: ListValue, within: Comparison): boolean {
  if (a.length !== b.length) return false
  return a.every((each, index) => {
    within.count()
    return equal(each, b[index] ?? null, within)
  })
}

function equalMaps(a: MapValue, b: MapValue, within: Comparison): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    within.count()
    const x = a.get(key)
    const y = b.get(key)
    if (x === undefined || y === undefined || !equal(x, y, within)) return false
  }
  return true
}

const equalOptionals = ({ value: a }: Optional, { value: b }: Optional): boolean =>
  a === undefined || b === undefined ? a === b : equals(a, b)

const hasSurrogate = /[\ud800-\udfff]/

/** By code point, as upstream orders text. JavaScript orders by UTF-16, which differs outside of the basic plane. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (!hasSurrogate.test(a) && !hasSurrogate.test(b)) return a < b ? -1 : 1
  const x = codePoints(a)
  const y = codePoints(b)
  for (const [index, character] of x.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (y[index]?.codePointAt(0) ?? -1)
    if (difference !== 0) return difference
  }
  return -1
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Integers are compared exactly, an integer and a double as doubles. */
function compareNumbers(a: bigint | number, b: bigint | number): number {
  const [x, y] = typeof a === typeof b ? [a, b] : [Number(a), Number(b)]
  return x < y ? -1 : x > y ? 1 : x >= y ? 0 : Number.NaN
}

/** Negative, zero or positive; NaN where there is no order; undefined for types that cannot be compared. */
export function compare(a: Value, b: Value): number | undefined {
  const x = numberOf(a)
  const y = numberOf(b)
  if (x !== undefined && y !== undefined) return compareNumbers(x, y)
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNanos(a.nanos, b.nanos)
  if (a instanceof Duration && b instanceof Duration) return compareNanos(a.nanos, b.nanos)
  return undefined
}

const compareNanos = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** In code points, like `size()`. */
export function textSize(text: string): number {
  if (!hasSurrogate.test(text)) return text.length
  let size = 0
  for (const _ of text) size++
  return size
}

/** The size that costs depend on; 1 for values without a size. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return textSize(value)
  if (isList(value) || value instanceof Uint8Array) return value.length
  return value instanceof MapValue ? value.size : 1
}
