// Lists and maps: elements by index or key, with and without optionals, and their size.
import { global, member, type Functions } from '../../environment/function.ts'
import {
  boolType,
  bytesType,
  dynType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  param,
  stringType,
} from '../../types/cel-type.ts'
import { sizeOf } from '../../values/equality.ts'
import { type MapValue, none, Optional, Uint, type ListValue, type Value } from '../../values/value.ts'
import { EvalError, noSuchOverload } from '../../values/eval-error.ts'
import { valueText } from '../../values/value-text.ts'

const a = param('A')
const b = param('B')
const listOfA = listOf(a)
const mapOfAB = mapOf(a, b)

/** Integers of every numeric type can be indexes. */
function indexOf(index: Value): number {
  const number = index instanceof Uint ? Number(index.value) : Number(index)
  if (typeof index !== 'bigint' && typeof index !== 'number' && !(index instanceof Uint)) throw noSuchOverload()
  if (!Number.isInteger(number)) throw new EvalError(`unsupported index value ${number} in list`)
  return number
}

const elementOf = (list: ListValue, index: Value): Value | undefined => list[indexOf(index)]

function element(list: ListValue, index: Value): Value {
  const found = elementOf(list, index)
  if (found === undefined) throw new EvalError(`index out of bounds: ${indexOf(index)}`)
  return found
}

function entry(map: MapValue, key: Value): Value {
  const found = map.get(key)
  if (found === undefined) throw new EvalError(`no such key: ${valueText(key)}`)
  return found
}

const optional = (value: Value | undefined): Optional => (value === undefined ? none : new Optional(value))

/** An absent optional list or map results in an absent optional. */
const within =
  <C extends ListValue | MapValue>(look: (collection: C, key: Value) => Value | undefined) =>
  ({ value }: Optional, key: Value): Value =>
    // The type of the overload determines the type of the optional's value.
    value === undefined ? none : optional(look(value as C, key))

const entryOf = (map: MapValue, key: Value): Value | undefined => map.get(key)
const size = (value: Value): bigint => BigInt(sizeOf(value))

const sizes = [
  ['string', stringType],
  ['bytes', bytesType],
  ['list', listOfA],
  ['map', mapOfAB],
] as const

export const collectionFunctions: Functions = {
  '_[_]': [
    { ...global('index_list', [listOfA, intType], a, element), dynArgs: [listOfA, dynType] },
    global('index_map', [mapOfAB, a], b, entry),
    global('optional_list_index_value', [optionalOf(listOfA), intType], optionalOf(a), within(elementOf)),
    global('optional_map_index_value', [optionalOf(mapOfAB), a], optionalOf(b), within(entryOf)),
  ],
  '_[?_]': [
    global('list_optindex_optional_int', [listOfA, intType], optionalOf(a), (list: ListValue, index: Value) =>
      optional(elementOf(list, index)),
    ),
    global('optional_list_optindex_optional_int', [optionalOf(listOfA), intType], optionalOf(a), within(elementOf)),
    global('map_optindex_optional_value', [mapOfAB, a], optionalOf(b), (map: MapValue, key: Value) =>
      optional(map.get(key)),
    ),
    global('optional_map_optindex_optional_value', [optionalOf(mapOfAB), a], optionalOf(b), within(entryOf)),
  ],
  size: sizes.flatMap(([name, type]) => [
    global(`size_${name}`, [type], intType, size),
    member(`${name}_size`, [type], intType, size),
  ]),
}

/** Whether a value is the zero value of its type, which `optional.ofNonZeroValue` treats as absent. */
export function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Optional) return value.value === undefined
  if (typeof value === 'object' && 'nanos' in value) return value.nanos === 0n
  return typeof value === 'object' && ('length' in value || 'size' in value) && sizeOf(value) === 0
}

export const optionalFunctions: Functions = {
  'optional.of': [global('optional_of', [a], optionalOf(a), (value: Value) => new Optional(value))],
  'optional.ofNonZeroValue': [
    global('optional_ofNonZeroValue', [a], optionalOf(a), (value: Value) =>
      isZero(value) ? none : new Optional(value),
    ),
  ],
  'optional.none': [global('optional_none', [], optionalOf(a), () => none)],
  'optional.unwrap': [global('optional_unwrap', [listOf(optionalOf(a))], listOfA, unwrapped)],
  unwrapOpt: [member('optional_unwrapOpt', [listOf(optionalOf(a))], listOfA, unwrapped)],
  hasValue: [member('optional_hasValue', [optionalOf(a)], boolType, ({ value }: Optional) => value !== undefined)],
  value: [
    member('optional_value', [optionalOf(a)], a, ({ value }: Optional) => {
      if (value === undefined) throw new EvalError('optional.none() dereference')
      return value
    }),
  ],
  or: [
    member('optional_or_optional', [optionalOf(a), optionalOf(a)], optionalOf(a), (left: Optional, right: Optional) =>
      left.value === undefined ? right : left,
    ),
  ],
  orValue: [
    member(
      'optional_orValue_value',
      [optionalOf(a), a],
      a,
      ({ value }: Optional, otherwise: Value) => value ?? otherwise,
    ),
  ],
}

function unwrapped(list: ListValue): Value {
  return list.flatMap((each) => (each instanceof Optional && each.value !== undefined ? [each.value] : []))
}
