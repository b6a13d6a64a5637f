// Durations in Go's form (1m30s, 1.5s, 100ms), in nanoseconds.

const unitNanos: Readonly<Record<string, number>> = {
  h: 3.6e12,
  m: 6e10,
  s: 1e9,
  ms: 1e6,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ns: 1,
}

const nanosByUnit = new Map(Object.entries(unitNanos))
/** Durations are int64 nanoseconds; only the smallest has the absolute value 2^63. */
const sizeMax = 1n << 63n

export type ParsedDuration =
  | { readonly kind: 'duration'; readonly nanos: bigint }
  | { readonly kind: 'fault'; readonly fault: string }

/** Like Go's time.ParseDuration: one pass, with its messages and its limits. */
export function parseDuration(text: string): ParsedDuration {
  const isNegative = text.startsWith('-')
  const start = isNegative || text.startsWith('+') ? 1 : 0
  const invalid = { kind: 'fault', fault: `invalid duration ${quoted(text)}` } as const
  if (text.length === start) return invalid
  if (text.length === start + 1 && text[start] === '0') return { kind: 'duration', nanos: 0n }
  let size = 0n
  for (let at = start; at < text.length;) {
    const wholeEnd = digitsEnd(text, at)
    const fractionStart = text[wholeEnd] === '.' ? wholeEnd + 1 : wholeEnd
    const numberEnd = fractionStart > wholeEnd ? digitsEnd(text, fractionStart) : wholeEnd
    if (wholeEnd === at && numberEnd === fractionStart) return invalid
    const whole = wholeNumber(text, at, wholeEnd)
    if (whole === undefined) return invalid
    const unitEnd = nextNumber(text, numberEnd)
    if (unitEnd === numberEnd) return { kind: 'fault', fault: `missing unit in duration ${quoted(text)}` }
    const unit = text.slice(numberEnd, unitEnd)
    const nanos = nanosByUnit.get(unit)
    if (nanos === undefined) return { kind: 'fault', fault: `unknown unit ${quoted(unit)} in duration ${quoted(text)}` }
    size += whole * BigInt(nanos) + fractionNanos(text.slice(fractionStart, numberEnd), nanos)
    if (size > sizeMax) return invalid
    at = unitEnd
  }
  if (size === sizeMax && !isNegative) return invalid
  return { kind: 'duration', nanos: isNegative ? -size : size }
}

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9'

function digitsEnd(text: string, from: number): number {
  let at = from
  while (isDigit(text[at])) at++
  return at
}

/** The start of the next number, where a unit ends. */
function nextNumber(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '.' && !isDigit(text[at])) at++
  return at
}

/** A 64-bit number has at most 19 digits besides leading zeros. */
const digitsMax = 19

function wholeNumber(text: string, from: number, to: number): bigint | undefined {
  let start = from
  while (text[start] === '0' && start < to) start++
  if (to - start > digitsMax) return undefined
  const value = start === to ? 0n : BigInt(text.slice(start, to))
  return value > sizeMax ? undefined : value
}

/** Digits beyond 63 bits are dropped. The product is a float, as in Go. */
function fractionNanos(digits: string, unit: number): bigint {
  let kept = digits.slice(0, digitsMax)
  if (kept.length === digitsMax && BigInt(kept) > sizeMax) kept = kept.slice(0, -1)
  return kept === '' ? 0n : BigInt(Math.trunc(Number(kept) * (unit / 10 ** kept.length)))
}

/** Quotes like Go's time package: bytes that are not printable ASCII are written in hexadecimal. */
function quoted(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte)
    if (character === '"' || character === '\\') return `\\${character}`
    return byte < 0x20 || byte >= 0x80 ? `\\x${byte.toString(16).padStart(2, '0')}` : character
  })
  return `"${bytes.join('')}"`
}

/** 0 for an invalid duration. */
export function durationNanos(text: string): number {
  const parsed = parseDuration(text)
  return parsed.kind === 'duration' ? Number(parsed.nanos) : 0
}

export function durationText(nanos: number): string {
  if (nanos < 0) return `-${durationText(-nanos)}`
  if (nanos === 0) return '0s'
  for (const unit of ['ns', 'µs', 'ms'] as const)
    if (nanos < (unitNanos[unit] ?? 1) * 1000) return `${nanos / (unitNanos[unit] ?? 1)}${unit}`
  const hours = Math.floor(nanos / 3.6e12)
  const minutes = Math.floor((nanos % 3.6e12) / 6e10)
  const seconds = (nanos % 6e10) / 1e9
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}

/** Of a number of milliseconds. */
export const durationTextOfMs = (ms: number): string => durationText(Math.round(ms) * 1e6)
