// int64: parses decimal text like Go's strconv.ParseInt, and computes with values of int64 fields. Such a value is a bigint
// if a double does not represent it exactly.

const int64Min = -(1n << 63n)
const int64Max = (1n << 63n) - 1n
/** More digits, apart from leading zeros, are out of range. */
const digitsMax = 19

/** Undefined for text that is not an integer or out of range. */
export function int64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > digitsMax) return undefined
  const size = BigInt(digits === '' ? 0 : digits)
  const value = text.startsWith('-') ? -size : size
  return value < int64Min || value > int64Max ? undefined : value
}

export type Int64 = number | bigint

const asInt64 = (value: bigint): Int64 => {
  const wrapped = BigInt.asIntN(64, value)
  return Number.isSafeInteger(Number(wrapped)) ? Number(wrapped) : wrapped
}

/** The next integer; after the largest one comes the smallest, as in Go. */
export const nextInt64 = (value: Int64): Int64 => asInt64(BigInt(value) + 1n)

export const compareInt64 = (a: Int64, b: Int64): number => (a < b ? -1 : a > b ? 1 : 0)

/** A Go duration has 64 bits of nanoseconds: 292 years. */
const durationSecondsMax = 9_223_372_036

/** Seconds as a duration, in milliseconds. A longer one wraps around, as in Go. */
export const secondsAsMs = (seconds: Int64): number =>
  seconds >= -durationSecondsMax && seconds <= durationSecondsMax
    ? Number(seconds) * 1000
    : Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
