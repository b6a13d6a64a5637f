// Quantities: exact numbers with a suffix (100m, 1.5Gi). Amounts are compared as big integers of nano-units.
import { lookup } from '../../base/collections/lookup.ts'

const binary: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
}
const decimalExponent: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/
const nanosPerUnit = 1_000_000_000n
const nanosPerMilli = 1_000_000n

/** Upstream's largest amount; larger ones are capped. */
const unitsMax = (1n << 63n) - 1n
/** Longer texts are invalid: no amount needs them, and the cost of big integers would be unbounded. */
const charactersMax = 1_000
/** Beyond these exponents a power of ten is above or below every amount. */
const exponentMin = -2 * charactersMax
const exponentMax = 40

/** A cluster uses few different amounts, so they are cached; a full cache is emptied. */
const cacheEntriesMax = 4_096

function cached<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    if (text.length > charactersMax) return read(text)
    const found = known.get(text)
    if (found !== undefined) return found
    const fresh = read(text)
    if (known.size >= cacheEntriesMax) known.clear()
    known.set(text, fresh)
    return fresh
  }
}

/** The amount in nano-units, rounded away from zero; undefined when the text is not a quantity. */
export const quantityNanos = cached((text: string): bigint | undefined => {
  const match = text.length > charactersMax ? null : pattern.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  const scaled = Object.hasOwn(binary, suffix) ? digits * (lookup(binary, suffix) ?? 1n) * nanosPerUnit : digits
  const exponent = Object.hasOwn(binary, suffix) ? -fraction.length : exponentOf(suffix) + 9 - fraction.length
  const nanos = digits === 0n ? 0n : capped(scaled, exponent)
  return sign === '-' ? -nanos : nanos
})

function capped(digits: bigint, exponent: number): bigint {
  if (exponent > exponentMax) return unitsMax * nanosPerUnit
  if (exponent < exponentMin) return 1n
  const nanos = exponent >= 0 ? digits * 10n ** BigInt(exponent) : divideUp(digits, 10n ** BigInt(-exponent))
  return nanos > unitsMax * nanosPerUnit ? unitsMax * nanosPerUnit : nanos
}

/** The amount in milli-units, rounded up; 0 when absent. CPU is counted in these. */
export const quantityMillis = (text: string | undefined): number =>
  text === undefined ? 0 : Number(divideUp(quantityNanos(text) ?? 0n, nanosPerMilli))

/** The amount in units, rounded up; 0 when absent. Memory and counts are counted in these. */
export const quantityUnits = (text: string | undefined): number =>
  text === undefined ? 0 : Number(divideUp(quantityNanos(text) ?? 0n, nanosPerUnit))

/** Upstream's form of the amount: the largest suffix of its format without a fraction. */
export const canonicalQuantity = cached((text: string): string | undefined => {
  const nanos = quantityNanos(text)
  return nanos === undefined ? undefined : quantityText(nanos, text)
})

/** The amount as text, in the suffix format of another quantity. */
export function quantityText(nanos: bigint, like = ''): string {
  const suffix = pattern.exec(like)?.[4] ?? ''
  if (Object.hasOwn(binary, suffix)) return binaryText(nanos) ?? decimalText(nanos, decimalSuffixes)
  return decimalText(nanos, /^[eE][+-]?\d/.test(suffix) ? exponentSuffixes : decimalSuffixes)
}

function binaryText(nanos: bigint): string | undefined {
  const units = nanos / nanosPerUnit
  const isSmall = units < 1024n && units > -1024n
  if (nanos % nanosPerUnit !== 0n || isSmall) return undefined
  const found = Object.entries(binary).findLast(([, factor]) => units % factor === 0n)
  return found === undefined ? String(units) : `${units / found[1]}${found[0]}`
}

/** The suffixes, the largest first, with the number of nano-units of each. */
type Suffixes = readonly (readonly [suffix: string, nanos: bigint])[]

const suffixesBy = (text: (suffix: string, exponent: number) => string): Suffixes =>
  Object.entries(decimalExponent)
    .toSorted(([, a], [, b]) => b - a)
    .map(([suffix, exponent]) => [text(suffix, exponent), 10n ** BigInt(exponent + 9)])

const decimalSuffixes = suffixesBy((suffix) => suffix)
const exponentSuffixes = suffixesBy((_, exponent) => (exponent === 0 ? '' : `e${exponent}`))

function decimalText(nanos: bigint, suffixes: Suffixes): string {
  if (nanos === 0n) return '0'
  const [suffix, factor] = suffixes.find(([, each]) => nanos % each === 0n) ?? ['n', 1n]
  return `${nanos / factor}${suffix}`
}

const exponentOf = (suffix: string): number =>
  /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (lookup(decimalExponent, suffix) ?? 0)

const divideUp = (value: bigint, by: bigint): bigint =>
  value >= 0n ? (value + by - 1n) / by : -((-value + by - 1n) / by)
