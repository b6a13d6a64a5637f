// The functions of templates that depend on their arguments only: those of Go, and the most used ones of Sprig, which upstream's
// templates may call as well.
import { lookup } from '../../base/collections/lookup.ts'
import { yamlText } from '../../schema/yaml/yaml-text.ts'
import type { JsonValue } from '../../schema/json/json-value.ts'
import type { TemplateFunctions, TemplateValue } from './template-nodes.ts'
import { isEmpty, isMapValue, printedValue } from './template-values.ts'
import { valueCharactersMax } from '../work/value-steps.ts'

const listItemsMax = 10_000

const text = (value: TemplateValue): string => (typeof value === 'string' ? value : printedValue(value))

/** As Sprig, which converts strings. */
const integer = (value: TemplateValue): number => {
  const number = typeof value === 'boolean' ? Number(value) : Number(value ?? 0)
  return Number.isFinite(number) ? Math.trunc(number) : 0
}

const list = (value: TemplateValue): readonly TemplateValue[] => {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null) return []
  throw new Error(`${printedValue(value)} is not a list`)
}

const map = (value: TemplateValue): { readonly [key: string]: TemplateValue } => {
  if (isMapValue(value)) return value
  if (value === undefined || value === null) return {}
  throw new Error(`${printedValue(value)} is not a map`)
}

const divisor = (value: TemplateValue): number => {
  const number = integer(value)
  if (number === 0) throw new Error('division by zero')
  return number
}

const json = (value: TemplateValue): string => JSON.stringify(value ?? null)

/** As upstream: what is not a string is quoted twice. */
function quoted(value: TemplateValue): string {
  const written = json(value)
  return written.startsWith('"') ? written : JSON.stringify(written)
}

function yaml(value: TemplateValue, indent?: TemplateValue): string {
  const written = yamlText((value ?? null) as JsonValue)
  const depth = integer(indent)
  return depth > 0 ? `\n${written}`.replaceAll('\n', `\n${' '.repeat(Math.min(depth, 100) * 2)}`) : written
}

function indexed(of: TemplateValue, ...keys: readonly TemplateValue[]): TemplateValue {
  let value = of
  for (const key of keys) {
    if (value === undefined || value === null) throw new Error('index of untyped nil')
    if (isMapValue(value)) value = typeof key === 'string' ? lookup(value, key) : undefined
    else if (Array.isArray(value) || typeof value === 'string') {
      const index = integer(key)
      if (index < 0 || index >= value.length) throw new Error(`index out of range: ${index}`)
      value = typeof value === 'string' ? value.charCodeAt(index) : (value[index] as TemplateValue)
    } else throw new Error(`can't index ${printedValue(value)}`)
  }
  return value
}

function lengthOf(value: TemplateValue): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).length
  if (Array.isArray(value)) return value.length
  if (isMapValue(value)) return Object.keys(value).length
  throw new Error(`len of ${printedValue(value)}`)
}

const isMissing = (value: TemplateValue): boolean => value === undefined || value === null

/** Whether values are equal; an error for values of different types, as in Go. */
function equal(one: TemplateValue, other: TemplateValue): boolean {
  if (isMissing(one) || isMissing(other)) return isMissing(one) && isMissing(other)
  if (typeof one === 'object' || typeof other === 'object') throw new Error('non-comparable type')
  if (typeof one !== typeof other) throw new Error('incompatible types for comparison')
  return one === other
}

function isLess(one: TemplateValue, other: TemplateValue): boolean {
  if (typeof one === 'number' && typeof other === 'number') return one < other
  if (typeof one === 'string' && typeof other === 'string') return one < other
  throw new Error('incompatible types for comparison')
}

function range(from: number, until: number, step: number): readonly number[] {
  if (step === 0) return []
  const count = Math.ceil((until - from) / step)
  if (count > listItemsMax) throw new Error(`a list may have ${listItemsMax} items`)
  return Array.from({ length: Math.max(0, count) }, (_, index) => from + index * step)
}

function joined(parts: readonly string[], separator: string): string {
  if (parts.length * separator.length > valueCharactersMax) throw new Error('a value is too large')
  return parts.join(separator)
}

/** An empty text is found before each character and at the end. */
function replaced(whole: string, old: string, other: string): string {
  const between = old === '' ? ['', ...Array.from(whole), ''] : whole.split(old)
  return joined(between, other)
}

function slice(value: TemplateValue, from: TemplateValue = 0, to?: TemplateValue): TemplateValue {
  if (typeof value !== 'string' && !Array.isArray(value)) throw new Error(`can't slice ${printedValue(value)}`)
  const [start, end] = [integer(from), to === undefined ? value.length : integer(to)]
  if (start < 0 || end > value.length || start > end) throw new Error(`index out of range: ${start}:${end}`)
  return value.slice(start, end) as TemplateValue
}

/** Go's fmt.Sprintf with the verbs that templates use. */
function formatted(format: TemplateValue, ...args: readonly TemplateValue[]): string {
  let next = 0
  return text(format).replaceAll(/%(%|0?\d{0,3}[sdvq])/g, (_, verb: string) => {
    if (verb === '%') return '%'
    const value = args[next++]
    const width = Number(verb.slice(0, -1))
    const written = verb.endsWith('q') ? JSON.stringify(text(value)) : printedValue(value)
    return written.padStart(width, verb.startsWith('0') ? '0' : ' ')
  })
}

/** Texts are joined; Go puts a blank between neighbours of which neither is a string. */
function printedTogether(...values: readonly TemplateValue[]): string {
  return values
    .map((value, index) => {
      const previous = values[index - 1]
      const isApart = index > 0 && typeof value !== 'string' && typeof previous !== 'string'
      return `${isApart ? ' ' : ''}${printedValue(value)}`
    })
    .join('')
}

export const templateFunctions: TemplateFunctions = {
  // Go's. `and` and `or` are evaluated in render-template.ts.
  and: (value) => value,
  or: (value) => value,
  eq: (one, ...others) => others.some((other) => equal(one, other)),
  ge: (one, other) => !isLess(one, other),
  gt: (one, other) => isLess(other, one),
  index: indexed,
  le: (one, other) => !isLess(other, one),
  len: lengthOf,
  lt: isLess,
  ne: (one, other) => !equal(one, other),
  not: (value) => isEmpty(value),
  print: printedTogether,
  printf: formatted,
  println: (...values) => `${values.map(printedValue).join(' ')}\n`,
  slice,

  // Of Stages.
  Quote: quoted,
  YAML: yaml,

  // Sprig's.
  add: (...values) => values.reduce<number>((sum, value) => sum + integer(value), 0),
  add1: (value) => integer(value) + 1,
  append: (values, value) => [...list(values), value],
  atoi: (value) => integer(value),
  coalesce: (...values) => values.find((value) => !isEmpty(value)),
  concat: (...values) => values.flatMap(list),
  contains: (part, whole) => text(whole).includes(text(part)),
  default: (fallback, value) => (isEmpty(value) ? fallback : value),
  dict: (...pairs) =>
    Object.fromEntries(
      pairs.flatMap((key, index) => (index % 2 === 0 ? [[text(key), pairs[index + 1] ?? ''] as const] : [])),
    ),
  div: (one, other) => Math.trunc(integer(one) / divisor(other)),
  empty: (value) => isEmpty(value),
  first: (values) => list(values)[0],
  fromJson: (value) => JSON.parse(text(value)) as TemplateValue,
  get: (of, key) => lookup(map(of), text(key)) ?? '',
  has: (value, values) => list(values).some((each) => json(each) === json(value)),
  hasKey: (of, key) => Object.hasOwn(map(of), text(key)),
  hasPrefix: (start, whole) => text(whole).startsWith(text(start)),
  hasSuffix: (end, whole) => text(whole).endsWith(text(end)),
  int: (value) => integer(value),
  int64: (value) => integer(value),
  join: (separator, values) => joined(list(values).map(text), text(separator)),
  keys: (...maps) => maps.flatMap((each) => Object.keys(map(each))),
  last: (values) => list(values).at(-1),
  list: (...values) => values,
  lower: (value) => text(value).toLowerCase(),
  max: (...values) => Math.max(...values.map(integer)),
  min: (...values) => Math.min(...values.map(integer)),
  mod: (one, other) => integer(one) % divisor(other),
  mul: (...values) => values.reduce<number>((product, value) => product * integer(value), 1),
  quote: (...values) =>
    values
      .filter((value) => !isMissing(value))
      .map((value) => JSON.stringify(text(value)))
      .join(' '),
  replace: (old, other, whole) => replaced(text(whole), text(old), text(other)),
  splitList: (separator, whole) => text(whole).split(text(separator)),
  sub: (one, other) => integer(one) - integer(other),
  ternary: (one, other, condition) => (condition === true ? one : other),
  toJson: json,
  toString: text,
  trim: (value) => text(value).trim(),
  trimPrefix: (start, whole) => (text(whole).startsWith(text(start)) ? text(whole).slice(text(start).length) : whole),
  trimSuffix: (end, whole) =>
    text(end) !== '' && text(whole).endsWith(text(end)) ? text(whole).slice(0, -text(end).length) : whole,
  until: (count) => range(0, integer(count), 1),
  untilStep: (from, until, step) => range(integer(from), integer(until), integer(step)),
  upper: (value) => text(value).toUpperCase(),
}
