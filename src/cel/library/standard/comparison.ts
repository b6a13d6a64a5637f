// Comparison: equality of all types, order of ordered types; numbers of different types are compared by value.
import { global, type Functions, type Overload } from '../../environment/function.ts'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  mapOf,
  param,
  stringType,
  timestampType,
  uintType,
  type CelType,
} from '../../types/cel-type.ts'
import { compare, equals } from '../../values/equality.ts'
import type { MapValue, ListValue, Value } from '../../values/value.ts'
import { noSuchOverload } from '../../values/eval-error.ts'

const ordered: readonly [name: string, type: CelType][] = [
  ['bool', boolType],
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
]
const numeric = ordered.filter(([name]) => ['int64', 'uint64', 'double'].includes(name))

function orderings(name: string, holds: (order: number) => boolean): Overload[] {
  const compared = (a: Value, b: Value): Value => {
    const order = compare(a, b)
    if (order === undefined) throw noSuchOverload()
    return holds(order)
  }
  return [
    ...ordered.map(([type, of]) => global(`${name}_${type}`, [of, of], boolType, compared)),
    ...numeric.flatMap(([left, a]) =>
      numeric
        .filter(([right]) => right !== left)
        .map(([right, b]) => global(`${name}_${left}_${right}`, [a, b], boolType, compared)),
    ),
  ]
}

const a = param('A')
const b = param('B')

export const comparisonFunctions: Functions = {
  '_==_': [global('equals', [a, a], boolType, equals)],
  '_!=_': [global('not_equals', [a, a], boolType, (x: Value, y: Value) => !equals(x, y))],
  '_<_': orderings('less', (order) => order < 0),
  '_<=_': orderings('less_equals', (order) => order <= 0),
  '_>_': orderings('greater', (order) => order > 0),
  '_>=_': orderings('greater_equals', (order) => order >= 0),
  '@in': [
    global('in_list', [a, listOf(a)], boolType, (value: Value, list: ListValue) =>
      list.some((each) => equals(each, value)),
    ),
    global('in_map', [a, mapOf(a, b)], boolType, (key: Value, map: MapValue) => map.has(key)),
  ],
  // The compiler implements these two; they are declared here for their types.
  '!_': [global('logical_not', [boolType], boolType, (value: boolean) => !value)],
  '_?_:_': [
    global('conditional', [boolType, a, a], a, (condition: boolean, then: Value, otherwise: Value) =>
      condition ? then : otherwise,
    ),
  ],
}
