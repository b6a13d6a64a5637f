// Arithmetic: integer overflow is an error, doubles are IEEE 754.
import { global, type Functions, type Overload } from '../../environment/function.ts'
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  param,
  stringType,
  timestampType,
  uintType,
} from '../../types/cel-type.ts'
import { Duration, Timestamp } from '../../values/time-values.ts'
import { EvalError } from '../../values/eval-error.ts'
import { KeyedList } from '../../values/keyed-lists.ts'
import { Uint, type ListValue, type Value } from '../../values/value.ts'

const intMin = -(1n << 63n)
const intMax = (1n << 63n) - 1n
const uintMax = (1n << 64n) - 1n

export function int(value: bigint): bigint {
  if (value < intMin || value > intMax) throw new EvalError('integer overflow')
  return value
}

export function uint(value: bigint): Uint {
  if (value < 0n || value > uintMax) throw new EvalError('unsigned integer overflow')
  return new Uint(value)
}

function divisor(value: bigint, what: 'division' | 'modulus'): bigint {
  if (value === 0n) throw new EvalError(`${what} by zero`)
  return value
}

type OnIntegers = (a: bigint, b: bigint) => bigint

const integers = (name: string, operate: OnIntegers): Overload[] => [
  global(`${name}_int64`, [intType, intType], intType, (a: bigint, b: bigint) => int(operate(a, b))),
  global(`${name}_uint64`, [uintType, uintType], uintType, (a: Uint, b: Uint) => uint(operate(a.value, b.value))),
]

const doubles = (name: string, operate: (a: number, b: number) => number): Overload =>
  global(`${name}_double`, [doubleType, doubleType], doubleType, operate)

const listOfA = listOf(param('A'))

/** A concatenation costs one unit regardless of the lists' lengths, which have their own bound. */
const listElementsMax = 1_000_000

function joined(a: ListValue, b: ListValue): Value {
  if (a.length + b.length > listElementsMax) throw new EvalError(`list exceeds ${listElementsMax} elements`)
  return a instanceof KeyedList ? a.joined(b) : [...a, ...b]
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}

export const arithmeticFunctions: Functions = {
  '_+_': [
    ...integers('add', (a, b) => a + b),
    doubles('add', (a, b) => a + b),
    global('add_string', [stringType, stringType], stringType, (a: string, b: string) => a + b),
    global('add_bytes', [bytesType, bytesType], bytesType, concatenated),
    global('add_list', [listOfA, listOfA], listOfA, joined),
    global(
      'add_timestamp_duration',
      [timestampType, durationType],
      timestampType,
      (a: Timestamp, b: Duration) => new Timestamp(a.nanos + b.nanos),
    ),
    global(
      'add_duration_timestamp',
      [durationType, timestampType],
      timestampType,
      (a: Duration, b: Timestamp) => new Timestamp(a.nanos + b.nanos),
    ),
    global(
      'add_duration_duration',
      [durationType, durationType],
      durationType,
      (a: Duration, b: Duration) => new Duration(a.nanos + b.nanos),
    ),
  ],
  '_-_': [
    ...integers('subtract', (a, b) => a - b),
    doubles('subtract', (a, b) => a - b),
    global(
      'subtract_timestamp_duration',
      [timestampType, durationType],
      timestampType,
      (a: Timestamp, b: Duration) => new Timestamp(a.nanos - b.nanos),
    ),
    global(
      'subtract_timestamp_timestamp',
      [timestampType, timestampType],
      durationType,
      (a: Timestamp, b: Timestamp) => new Duration(a.nanos - b.nanos),
    ),
    global(
      'subtract_duration_duration',
      [durationType, durationType],
      durationType,
      (a: Duration, b: Duration) => new Duration(a.nanos - b.nanos),
    ),
  ],
  '_*_': [...integers('multiply', (a, b) => a * b), doubles('multiply', (a, b) => a * b)],
  '_/_': [...integers('divide', (a, b) => a / divisor(b, 'division')), doubles('divide', (a, b) => a / b)],
  '_%_': integers('modulo', (a, b) => a % divisor(b, 'modulus')),
  '-_': [
    global('negate_int64', [intType], intType, (a: bigint) => int(-a)),
    global('negate_double', [doubleType], doubleType, (a: number) => -a),
  ],
}
