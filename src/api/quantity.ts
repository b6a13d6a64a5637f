// Quantities: exact numbers with a suffix (100m, 1.5Gi). Amounts are compared in thousandths, as big integers.

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

/** The amount in billionths, rounded away from zero below them; undefined when the text is no quantity. */
export function quantityNanos(text: string): bigint | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(whole + fraction)
  const scaled = suffix in binary ? digits * (binary[suffix] ?? 1n) * nanosPerUnit : digits
  const exponent = suffix in binary ? -fraction.length : exponentOf(suffix) + 9 - fraction.length
  const nanos = exponent >= 0 ? scaled * 10n ** BigInt(exponent) : divideUp(scaled, 10n ** BigInt(-exponent))
  return sign === '-' ? -nanos : nanos
}

/** The amount in thousandths, rounded up; 0 when absent. CPU is counted in these. */
export const quantityMillis = (text: string | undefined): number =>
  text === undefined ? 0 : Number(divideUp(quantityNanos(text) ?? 0n, nanosPerMilli))

/** The amount in whole units, rounded up; 0 when absent. Memory and counts are counted in these. */
export const quantityUnits = (text: string | undefined): number =>
  text === undefined ? 0 : Number(divideUp(quantityNanos(text) ?? 0n, nanosPerUnit))

const exponentOf = (suffix: string): number =>
  /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (decimalExponent[suffix] ?? 0)

const divideUp = (value: bigint, by: bigint): bigint =>
  value >= 0n ? (value + by - 1n) / by : -((-value + by - 1n) / by)
