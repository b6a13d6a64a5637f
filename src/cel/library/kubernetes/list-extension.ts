// The lists extension: parts, order and distinct elements of lists.
import { global, inSteps, member, type CallSteps, type Functions } from '../../environment/function.ts'
import { dynType, intType, listOf, optionalOf, param } from '../../types/cel-type.ts'
import { comparableTypes } from './comparable-types.ts'
import { compare, equals, isList, numberOf, sizeOf } from '../../values/equality.ts'
import { EvalError } from '../../values/eval-error.ts'
import { runtimeType } from '../../values/matches-type.ts'
import { none, Optional, type ListValue, type Value } from '../../values/value.ts'

const t = param('T')
const listOfT = listOf(param('T'))

/** The elements, ordered by keys at the same positions. */
function sortedBy(list: ListValue, keys: ListValue): Value {
  if (list.length !== keys.length) throw new EvalError('no such overload')
  const [first = null] = keys
  if (keys.length > 0 && compare(first, first) === undefined) throw new EvalError('list elements must be comparable')
  const type = runtimeType(first)
  if (keys.some((key) => runtimeType(key) !== type)) throw new EvalError('list elements must have the same type')
  const order = keys.map((_, index) => index).toSorted((a, b) => compare(keys[a] ?? null, keys[b] ?? null) ?? 0)
  return order.map((index) => list[index] ?? null)
}

const sorted = (list: ListValue): Value => sortedBy(list, list)

function slice(list: ListValue, start: bigint, end: bigint): Value {
  const wrong = (why: string): EvalError => new EvalError(`cannot slice(${start}, ${end}), ${why}`)
  if (start < 0n || end < 0n) throw wrong('negative indexes not supported')
  if (start > end) throw wrong('start index must be less than or equal to end index')
  if (end > BigInt(list.length)) throw wrong(`list is length ${list.length}`)
  return list.slice(Number(start), Number(end))
}

function flatten(list: ListValue, levels = 1n): Value {
  if (levels < 0n) throw new EvalError('level must be non-negative')
  if (levels === 0n) return list
  const flat: Value[] = []
  for (const each of list) {
    // The result is not longer than its cost allows: every element that is added was part of a list.
    if (isList(each)) for (const inner of flatten(each, levels - 1n) as ListValue) flat.push(inner)
    else flat.push(each)
  }
  return flat
}

/** A longer range costs more than any expression may. */
const rangeMax = 1_000_000n

function range(end: bigint): Value {
  if (end > rangeMax) throw new EvalError(`list exceeds ${rangeMax} elements`)
  return Array.from({ length: Math.max(0, Number(end)) }, (_, index) => BigInt(index))
}

/** Values that are equal have equal keys, so only values with equal keys are compared. */
function distinctKey(value: Value): unknown {
  const number = numberOf(value)
  if (number !== undefined) return Number(number)
  if (typeof value === 'object' && value !== null) return `${runtimeType(value)} ${sizeOf(value)}`
  return typeof value === 'string' ? `"${value}` : value
}

const comparisonsPerStep = 1_000

function* distinct(list: ListValue): CallSteps {
  const found: Value[] = []
  const byKey = new Map<unknown, Value[]>()
  let comparisons = 0
  for (const each of list) {
    const key = distinctKey(each)
    const similar = byKey.get(key) ?? []
    comparisons += similar.length
    if (comparisons >= comparisonsPerStep) {
      comparisons = 0
      yield
    }
    if (similar.some((other) => equals(other, each))) continue
    similar.push(each)
    byKey.set(key, similar)
    found.push(each)
  }
  return found
}

const at = (list: ListValue, index: number): Value => {
  const value = list.at(index)
  return value === undefined ? none : new Optional(value)
}

export const listExtension: Functions = {
  distinct: [inSteps(member, 'list_distinct', [listOfT], listOfT, distinct)],
  first: [member('list_first', [listOfT], optionalOf(t), (list: ListValue) => at(list, 0))],
  flatten: [
    member('list_flatten', [listOf(listOfT)], listOfT, (list: ListValue) => flatten(list)),
    member('list_flatten_int', [listOf(dynType), intType], listOf(dynType), flatten),
  ],
  last: [member('list_last', [listOfT], optionalOf(t), (list: ListValue) => at(list, -1))],
  'lists.range': [global('lists_range', [intType], listOf(intType), range)],
  reverse: [member('list_reverse', [listOfT], listOfT, (list: ListValue) => list.toReversed())],
  slice: [member('list_slice', [listOfT, intType, intType], listOfT, slice)],
  sort: comparableTypes.map(([name, type]) => member(`list_${name}_sort`, [listOf(type)], listOf(type), sorted)),
  '@sortByAssociatedKeys': comparableTypes.map(([name, type]) =>
    member(`list_${name}_sortByAssociatedKeys`, [listOfT, listOf(type)], listOfT, sortedBy),
  ),
}
