// The functions of jq expressions that take values. `select`, `map`, `first`, `any`, `all` and `empty` take expressions and are
// evaluated in jq-evaluate.ts.
import { lookup } from '../../base/collections/lookup.ts'
import { JqError, type JqValue } from './jq-query.ts'
import { valueCharactersMax } from '../work/value-steps.ts'

type JqFunction = (input: JqValue, ...args: readonly JqValue[]) => JqValue

export const typeOf = (value: JqValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

export const isTrue = (value: JqValue): boolean => value !== null && value !== false

export const isList = (value: JqValue): value is readonly JqValue[] => Array.isArray(value)

export const isMap = (value: JqValue): value is { readonly [key: string]: JqValue } =>
  typeof value === 'object' && value !== null && !isList(value)

const text = (name: string, value: JqValue | undefined): string => {
  if (typeof value !== 'string') throw new JqError(`${name} needs a string, not ${typeOf(value ?? null)}`)
  return value
}

const functions: Readonly<Record<string, JqFunction>> = {
  'add/0': (input) => valuesOf('add', input).reduce<JqValue>((sum, value) => plus(sum, value), null),
  'ascii_downcase/0': (input) => text('ascii_downcase', input).replaceAll(/[A-Z]/g, (each) => each.toLowerCase()),
  'ascii_upcase/0': (input) => text('ascii_upcase', input).replaceAll(/[a-z]/g, (each) => each.toUpperCase()),
  'contains/1': (input, part = null) => contains(input, part),
  'endswith/1': (input, end) => text('endswith', input).endsWith(text('endswith', end)),
  'has/1': (input, key = null) => {
    if (isMap(input) && typeof key === 'string') return Object.hasOwn(input, key)
    if (isList(input) && typeof key === 'number') return key >= 0 && key < input.length
    throw new JqError(`has cannot be applied to ${typeOf(input)}`)
  },
  'join/1': (input, separator) => {
    const parts = valuesOf('join', input).map((value) => (value === null ? '' : printed(value)))
    const between = text('join', separator)
    if (between.length * parts.length > valueCharactersMax) throw new JqError('a value is too large')
    return parts.join(between)
  },
  'keys/0': (input) => {
    if (isMap(input)) return Object.keys(input).toSorted()
    return valuesOf('keys', input).map((_, index) => index)
  },
  'last/0': (input) => valuesOf('last', input).at(-1) ?? null,
  'length/0': (input) => {
    if (input === null) return 0
    if (typeof input === 'string') return Array.from(input).length
    if (typeof input === 'number') return Math.abs(input)
    return valuesOf('length', input).length
  },
  'ltrimstr/1': (input, start) =>
    typeof input === 'string' && typeof start === 'string' && input.startsWith(start)
      ? input.slice(start.length)
      : input,
  'not/0': (input) => !isTrue(input),
  'rtrimstr/1': (input, end) =>
    typeof input === 'string' && typeof end === 'string' && end !== '' && input.endsWith(end)
      ? input.slice(0, -end.length)
      : input,
  'split/1': (input, separator) => text('split', input).split(text('split', separator)),
  'startswith/1': (input, start) => text('startswith', input).startsWith(text('startswith', start)),
  'tonumber/0': (input) => {
    const number = typeof input === 'string' && input.trim() !== '' ? Number(input) : input
    if (typeof number !== 'number' || Number.isNaN(number)) throw new JqError(`${printed(input)} is not a number`)
    return number
  },
  'tostring/0': (input) => printed(input),
  'type/0': typeOf,
}

const special = new Set(['all/0', 'all/1', 'any/0', 'any/1', 'empty/0', 'first/0', 'first/1', 'map/1', 'select/1'])

export const isJqFunction = (name: string, count: number): boolean =>
  special.has(`${name}/${count}`) || lookup(functions, `${name}/${count}`) !== undefined

export const jqFunction = (name: string, count: number): JqFunction | undefined => lookup(functions, `${name}/${count}`)

export function valuesOf(name: string, value: JqValue): readonly JqValue[] {
  if (isList(value)) return value
  if (isMap(value)) return Object.values(value)
  throw new JqError(`${name} cannot be applied to ${typeOf(value)}`)
}

export const printed = (value: JqValue): string => (typeof value === 'string' ? value : JSON.stringify(value))

export function plus(left: JqValue, right: JqValue): JqValue {
  if (left === null) return right
  if (right === null) return left
  if (typeof left === 'number' && typeof right === 'number') return left + right
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (isList(left) && isList(right)) return [...left, ...right]
  if (isMap(left) && isMap(right)) return { ...left, ...right }
  throw new JqError(`${typeOf(left)} and ${typeOf(right)} cannot be added`)
}

function contains(value: JqValue, part: JqValue): boolean {
  if (typeof value === 'string' && typeof part === 'string') return value.includes(part)
  if (isList(value) && isList(part)) return part.every((each) => value.some((other) => contains(other, each)))
  if (isMap(value) && isMap(part))
    return Object.entries(part).every(
      ([key, each]) => Object.hasOwn(value, key) && contains(lookup(value, key) ?? null, each),
    )
  return compare(value, part) === 0
}

const order = ['null', 'false', 'true', 'number', 'string', 'array', 'object']
const rank = (value: JqValue): number => order.indexOf(typeof value === 'boolean' ? String(value) : typeOf(value))

/** The order of jq: null, false, true, numbers, strings, lists, maps. */
export function compare(left: JqValue, right: JqValue): number {
  if (rank(left) !== rank(right)) return rank(left) - rank(right)
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0
  if (isList(left) && isList(right)) return compareLists(left, right)
  if (isMap(left) && isMap(right)) {
    const [keys, others] = [Object.keys(left).toSorted(), Object.keys(right).toSorted()]
    const byKeys = compareLists(keys, others)
    if (byKeys !== 0) return byKeys
    return compareLists(
      keys.map((key) => lookup(left, key) ?? null),
      keys.map((key) => lookup(right, key) ?? null),
    )
  }
  return 0
}

function compareLists(left: readonly JqValue[], right: readonly JqValue[]): number {
  for (const [index, value] of left.entries()) {
    if (index === right.length) break
    const difference = compare(value, right[index] ?? null)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
