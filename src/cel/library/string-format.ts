// `"%d of %s".format([…])`: the clauses of the strings extension.
import { isList } from '../values/equality.ts'
import { MapValue, TypeValue, Uint, type ListValue, type Value } from '../values/value.ts'
import { runtimeType } from '../values/matches-type.ts'
import { Duration, Timestamp } from '../values/time-values.ts'
import { EvalError } from '../values/eval-error.ts'

const precisionDefault = 6
const precisionMax = 1000
/** The maximum precision of JavaScript. */
const placesMax = 100

export const formatVerbs = ['s', 'd', 'f', 'e', 'b', 'x', 'X', 'o'] as const
export type FormatVerb = (typeof formatVerbs)[number]

interface Clause {
  readonly verb: FormatVerb
  readonly precision: number | undefined
}

/** The texts and clauses of a format string, in order. Throws at the first clause that is invalid. */
export function* formatParts(pattern: string): Iterable<string | Clause> {
  const part = /[^%]+|%(?:%|(?:\.(\d*))?)/gy
  for (let match = part.exec(pattern); match !== null; match = part.exec(pattern)) {
    const [whole, digits] = match
    if (whole === '%%') yield '%'
    else if (whole[0] !== '%') yield whole
    else {
      yield {
        verb: verbAt(pattern, part.lastIndex, digits),
        precision: digits === undefined ? undefined : Number(digits),
      }
      part.lastIndex++
    }
  }
}

const intMax = 2n ** 63n - 1n
const invalidClause = (detail: string): EvalError => new EvalError(`could not parse formatting clause: ${detail}`)

function verbAt(pattern: string, at: number, digits: string | undefined): FormatVerb {
  const isAtEnd = at >= pattern.length
  if (digits !== undefined) {
    const wrong = 'error while parsing precision:'
    if (isAtEnd) throw invalidClause(`${wrong} could not find end of precision specifier`)
    const parsing = `${wrong} error while converting precision to integer: strconv.Atoi: parsing "${digits}":`
    if (digits === '') throw invalidClause(`${parsing} invalid syntax`)
    if (digits.length > 19 || BigInt(digits) > intMax) throw invalidClause(`${parsing} value out of range`)
  }
  if (isAtEnd) throw new EvalError('unexpected end of string')
  const verb = formatVerbs.find((each) => each === pattern[at])
  if (verb !== undefined) return verb
  // Upstream shows the first byte of the character.
  const byte = new TextEncoder().encode(pattern.slice(at, at + 2))[0] ?? 0
  throw invalidClause(`unrecognized formatting clause "${String.fromCharCode(byte)}"`)
}

/** How numbers and values are written. */
export interface FormatStyle {
  /** A number with its places, as JavaScript writes it. */
  fixed(text: string): string
  scientific(value: number, places: number): string
  /** The text of a value in `%s`. Calls `count` for every value, since a list may contain itself many times. */
  shown(value: Value, count: () => void): string
}

export const standardFormat: FormatStyle = {
  fixed: (text) => text,
  scientific(value, places) {
    const [mantissa = '', exponent = ''] = value.toExponential(places).split('e')
    return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
  },
  shown,
}

/** The maximum number of values in one clause: a value that contains a list many times is larger than its memory. */
const shownMax = 100_000

export function format(pattern: string, args: ListValue, style: FormatStyle): string {
  let text = ''
  let index = 0
  for (const part of formatParts(pattern)) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    const arg = args[index]
    if (arg === undefined) throw new EvalError(`index ${index} out of range`)
    index++
    text += formatted(part.verb, arg, part.precision, style)
  }
  return text
}

/** What a clause can be used on, in its error. */
export const formatUses: Readonly<Record<FormatVerb, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
}

function formatted(verb: FormatVerb, arg: Value, precision: number | undefined, style: FormatStyle): string {
  switch (verb) {
    case 's':
      return style.shown(arg, counter())
    case 'd':
      return decimal(arg)
    case 'f':
    case 'e':
      return float(verb, arg, precision ?? precisionDefault, style)
    case 'b':
      if (typeof arg === 'boolean') return arg ? '1' : '0'
      return integerOf(arg, verb).toString(2)
    case 'o':
      return integerOf(arg, verb).toString(8)
    default: {
      const text = hex(arg, verb)
      return verb === 'X' ? text.toUpperCase() : text
    }
  }
}

export const formatError = (verb: FormatVerb, given: string): EvalError =>
  new EvalError(`error during formatting: ${formatUses[verb]}, was given ${given}`)

const wrong = (verb: FormatVerb, value: Value): EvalError => formatError(verb, runtimeType(value))

function integerOf(value: Value, verb: FormatVerb): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return value.value
  throw wrong(verb, value)
}

function decimal(value: Value): string {
  if (typeof value === 'number') return notFinite(value) ?? wrongDecimal(value)
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint ? String(value.value) : wrongDecimal(value)
}

function wrongDecimal(value: Value): never {
  throw wrong('d', value)
}

const notFinite = (value: number): string | undefined => {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : value > 0 ? 'Infinity' : '-Infinity'
}

function float(verb: 'f' | 'e', value: Value, precision: number, style: FormatStyle): string {
  const number = typeof value === 'bigint' ? Number(value) : value instanceof Uint ? Number(value.value) : value
  if (typeof number !== 'number') throw wrong(verb, value)
  if (precision > precisionMax) throw new EvalError(`precision ${precision} exceeds maximum ${precisionMax}`)
  const special = notFinite(number)
  if (special !== undefined) return special
  const places = Math.min(precision, placesMax)
  return verb === 'f' ? style.fixed(fixed(number, places)) : style.scientific(number, places)
}

/** Rounds half to even; JavaScript rounds half up. */
function fixed(number: number, places: number): string {
  const exact = number.toFixed(Math.min(places + 25, placesMax))
  const end = exact.indexOf('.') + (places === 0 ? 0 : places + 1)
  const isTie = /^\.?50*$/.test(exact.slice(end))
  const isEven = /[02468]\.?$/.test(exact.slice(0, end))
  return isTie && isEven ? exact.slice(0, end) : number.toFixed(places)
}

function hex(value: Value, verb: FormatVerb): string {
  if (typeof value === 'string') return new TextEncoder().encode(value).toHex()
  if (value instanceof Uint8Array) return value.toHex()
  return integerOf(value, verb).toString(16)
}

function counter(): () => void {
  let left = shownMax
  return () => {
    if (--left < 0) throw new EvalError(`formatting exceeds ${shownMax} values`)
  }
}

/** `%s`: the text of any value. */
function shown(value: Value, count: () => void): string {
  count()
  if (typeof value === 'string') return value
  if (typeof value === 'number') return notFinite(value) ?? String(value)
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp || value instanceof Duration) return value.toString()
  if (value instanceof TypeValue) return value.name
  if (isList(value)) return `[${value.map((each) => shown(each, count)).join(', ')}]`
  if (value instanceof MapValue) return shownMap(value, count)
  throw formatError('s', runtimeType(value))
}

function shownMap(map: MapValue, count: () => void): string {
  const entries = [...map.keys()].map((key) => [shown(key, count), shown(map.get(key) ?? null, count)] as const)
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')}}`
}
