// Functions of lists: order, sum, minimum and maximum, and the index of an element.
import { member, type Functions, type Overload } from '../../environment/function.ts'
import {
  boolType,
  doubleType,
  durationType,
  intType,
  listOf,
  param,
  uintType,
  type CelType,
} from '../../types/cel-type.ts'
import { comparableTypes } from './comparable-types.ts'
import { compare, equals } from '../../values/equality.ts'
import { Duration } from '../../values/time-values.ts'
import { EvalError, noSuchOverload } from '../../values/eval-error.ts'
import { Uint, type ListValue, type Value } from '../../values/value.ts'
import { int, uint } from '../standard/arithmetic.ts'

function order(a: Value, b: Value): number {
  const found = compare(a, b)
  if (found === undefined) throw noSuchOverload()
  return found
}

const isSorted = (list: ListValue): boolean =>
  list.every((each, index) => index === 0 || order(list[index - 1] ?? null, each) <= 0)

const extreme =
  (name: 'min' | 'max', sign: 1 | -1) =>
  (list: ListValue): Value => {
    if (list.length === 0) throw new EvalError(`${name} called on empty list`)
    return list.reduce((best, each) => (order(each, best) * sign > 0 ? each : best))
  }

const forEachType = (id: string, call: (list: ListValue) => Value, result?: CelType): Overload[] =>
  comparableTypes.map(([name, type]) => member(`list_${name}_${id}`, [listOf(type)], result ?? type, call))

const total =
  <T extends Value>(zero: T, add: (a: T, b: T) => T) =>
  // The overload determines the type of the elements.
  (list: ListValue): Value =>
    (list as readonly T[]).reduce(add, zero)

const a = param('T')
const listOfA = listOf(param('T'))

export const listFunctions: Functions = {
  isSorted: forEachType('is_sorted_bool', isSorted, boolType),
  min: forEachType('min', extreme('min', -1)),
  max: forEachType('max', extreme('max', 1)),
  sum: [
    member(
      'list_int_sum_int',
      [listOf(intType)],
      intType,
      total<bigint>(0n, (x, y) => int(x + y)),
    ),
    member(
      'list_uint_sum_uint',
      [listOf(uintType)],
      uintType,
      total(new Uint(0n), (x, y) => uint(x.value + y.value)),
    ),
    member(
      'list_double_sum_double',
      [listOf(doubleType)],
      doubleType,
      total<number>(0, (x, y) => x + y),
    ),
    member(
      'list_duration_sum_duration',
      [listOf(durationType)],
      durationType,
      total(new Duration(0n), (x, y) => new Duration(x.nanos + y.nanos)),
    ),
  ],
  indexOf: [
    member('list_a_index_of_int', [listOfA, a], intType, (list: ListValue, value: Value) =>
      BigInt(list.findIndex((each) => equals(each, value))),
    ),
  ],
  lastIndexOf: [
    member('list_a_last_index_of_int', [listOfA, a], intType, (list: ListValue, value: Value) =>
      BigInt(list.findLastIndex((each) => equals(each, value))),
    ),
  ],
}
