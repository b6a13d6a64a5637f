// int64: parses decimal text like Go's strconv.ParseInt.

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
