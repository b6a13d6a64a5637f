// The texts of values in `format` in the version of the strings extension that Kubernetes has: numbers are written with
// separators and superscripts, and elements of lists and maps as literals.
import { isList } from '../values/equality.ts'
import { runtimeType } from '../values/matches-type.ts'
import { doubleText } from '../values/value-text.ts'
import { Duration, Timestamp } from '../values/time-values.ts'
import { MapValue, TypeValue, Uint, type Value } from '../values/value.ts'
import { quote } from './strings.ts'
import { formatError, type FormatStyle } from './string-format.ts'

const places = 6

/** `1234567.5` is `1,234,567.500000`. */
function fixed(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',') // linear: a number has at most 309 digits
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** `2.5e+0` is `2.500000×10⁰⁰`, whatever the precision is. */
function scientific(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(places).split('e')
  const digits = exponent.replace(/^[+-]/, '').padStart(2, '0')
  const raised = Array.from(digits, (digit) => superscripts[Number(digit)]).join('')
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`
}

/** An element of a list or map. */
function literal(value: Value, count: () => void): string {
  count()
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return Number.isFinite(value) ? fixed(value.toFixed(places)) : doubleText(value)
  if (value instanceof Uint8Array) return `b${quote(new TextDecoder().decode(value))}`
  if (value instanceof Timestamp) return `timestamp("${value.toString()}")`
  if (value instanceof Duration) return `duration("${value.toString()}")`
  return shown(value, count)
}

function shown(value: Value, count: () => void): string {
  count()
  if (typeof value === 'string') return value
  if (typeof value === 'number') return doubleText(value)
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  if (value instanceof Timestamp || value instanceof Duration) return value.toString()
  if (value instanceof TypeValue) return value.name
  if (isList(value)) return `[${value.map((each) => literal(each, count)).join(', ')}]`
  if (!(value instanceof MapValue)) throw formatError('s', runtimeType(value))
  const entries = [...value.keys()].map((key) => [literal(key, count), literal(value.get(key) ?? null, count)] as const)
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => `${key}:${each}`)
    .join(', ')}}`
}

export const kubernetesFormat: FormatStyle = { fixed, scientific, shown }
