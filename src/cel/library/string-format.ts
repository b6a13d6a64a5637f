// `"%d of %s".format([…])`: the clauses of the strings extension.
import { isList } from '../values/equality.ts'
import { MapValue, TypeValue, Uint, type ListValue, type Value } from '../values/value.ts'
import { runtimeType } from '../values/matches-type.ts'
import { Duration, Timestamp } from '../values/time-values.ts'
import { EvalError } from '../values/eval-error.ts'

const clause = /%(?:%|(?:\.(\d+))?(.?))/gsu
const precisionDefault = 6
const precisionMax = 1000
/** The maximum precision of JavaScript. */
const placesMax = 100

export function format(pattern: string, args: ListValue): string {
  let index = 0
  return pattern.replaceAll(clause, (whole, precision: string | undefined, verb: string | undefined) => {
    if (whole === '%%') return '%'
    if (verb === undefined || verb === '')
      throw new EvalError('could not parse formatting clause: unexpected end of string')
    if (!'sdfebxXo'.includes(verb))
      throw new EvalError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
    const arg = args[index]
    if (arg === undefined) throw new EvalError(`index ${index} out of range`)
    index++
    return formatted(verb, arg, precision)
  })
}

function formatted(verb: string, arg: Value, precision: string | undefined): string {
  switch (verb) {
    case 's':
      return shown(arg)
    case 'd':
      return decimal(arg)
    case 'f':
    case 'e':
      return float(verb, arg, precision === undefined ? precisionDefault : Number(precision))
    case 'b':
      if (typeof arg === 'boolean') return arg ? '1' : '0'
      return integerOf(arg, 'binary', 'only integers and bools can be formatted as binary').toString(2)
    case 'o':
      return integerOf(arg, 'octal', 'octal clause can only be used on integers').toString(8)
    default: {
      const text = hex(arg)
      return verb === 'X' ? text.toUpperCase() : text
    }
  }
}

const wrong = (detail: string, value: Value): EvalError =>
  new EvalError(`error during formatting: ${detail}, was given ${runtimeType(value)}`)

function integerOf(value: Value, _: string, detail: string): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return value.value
  throw wrong(detail, value)
}

function decimal(value: Value): string {
  if (typeof value === 'number') return notFinite(value) ?? wrongDecimal(value)
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint ? String(value.value) : wrongDecimal(value)
}

function wrongDecimal(value: Value): never {
  throw wrong('decimal clause can only be used on integers', value)
}

const notFinite = (value: number): string | undefined => {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : value > 0 ? 'Infinity' : '-Infinity'
}

function float(verb: 'f' | 'e', value: Value, precision: number): string {
  const detail = `${verb === 'f' ? 'fixed-point' : 'scientific'} clause can only be used on doubles`
  const number = typeof value === 'bigint' ? Number(value) : value instanceof Uint ? Number(value.value) : value
  if (typeof number !== 'number') throw wrong(detail, value)
  if (precision > precisionMax) throw new EvalError(`precision ${precision} exceeds maximum ${precisionMax}`)
  const special = notFinite(number)
  if (special !== undefined) return special
  if (verb === 'f') return fixed(number, Math.min(precision, placesMax))
  const [mantissa = '', exponent = ''] = number.toExponential(Math.min(precision, placesMax)).split('e')
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`
}

/** Rounds half to even; JavaScript rounds half up. */
function fixed(number: number, places: number): string {
  const exact = number.toFixed(Math.min(places + 25, placesMax))
  const end = exact.indexOf('.') + (places === 0 ? 0 : places + 1)
  const isTie = /^\.?50*$/.test(exact.slice(end))
  const isEven = /[02468]\.?$/.test(exact.slice(0, end))
  return isTie && isEven ? exact.slice(0, end) : number.toFixed(places)
}

function hex(value: Value): string {
  if (typeof value === 'string') return new TextEncoder().encode(value).toHex()
  if (value instanceof Uint8Array) return value.toHex()
  const number = integerOf(value, 'hex', 'only integers, byte buffers, and strings can be formatted as hex')
  return number.toString(16)
}

/**
 * `%s`: the text of any value. Elements are counted, since a value that contains a list many times is larger than its
 * memory.
 */
const shownMax = 100_000

function shown(value: Value, parts = { left: shownMax }): string {
  if (--parts.left < 0) throw new EvalError(`formatting exceeds ${shownMax} values`)
  if (typeof value === 'string') return value
  if (typeof value === 'number') return notFinite(value) ?? String(value)
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp || value instanceof Duration) return value.toString()
  if (value instanceof TypeValue) return value.name
  if (isList(value)) return `[${value.map((each) => shown(each, parts)).join(', ')}]`
  if (value instanceof MapValue) return shownMap(value, parts)
  throw wrong(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  )
}

function shownMap(map: MapValue, parts: { left: number }): string {
  const entries = [...map.keys()].map((key) => [shown(key, parts), shown(map.get(key) ?? null, parts)] as const)
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')}}`
}
