// Values: their equality and order, and their forms in JSON and in errors.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import {
  boolType,
  bytesType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from '../types/cel-type.ts'
import { compareText, equals } from './equality.ts'
import { fromJson, toJson } from './json-value-conversion.ts'
import { MapList, SetList } from './keyed-lists.ts'
import { isLarge } from './large-value.ts'
import { LiteralMap } from './map-value.ts'
import { Duration, Timestamp } from './time-values.ts'
import { doubleText, valueText } from './value-text.ts'
import { none, Optional, TypeValue, Uint, type Value } from './value.ts'

const setOf = (...values: Value[]) => SetList.from(values) as SetList
const entry = (name: string, value: Value) =>
  new LiteralMap([
    ['name', name],
    ['value', value],
  ])
const keyed = (...values: Value[]) => MapList.keyed(values, ['name'])

const equalities: readonly (readonly [what: string, a: Value, b: Value, areEqual: boolean])[] = [
  ['sets in another order', setOf('a', 'b'), ['b', 'a'], true],
  ['sets of other elements', setOf('a', 'b'), ['a', 'c'], false],
  ['sets of another size', setOf('a'), ['a', 'a'], false],
  ['sets of maps', setOf(entry('a', 1n)), [entry('a', 1n)], true],
  [
    'sets of timestamps',
    setOf(Timestamp.parse('2024-01-01T00:00:00Z')),
    [Timestamp.parse('2024-01-01T00:00:00Z')],
    true,
  ],
  ['a set and a text', setOf('a'), 'a', false],
  ['keyed lists in another order', keyed(entry('a', 1n), entry('b', 2n)), [entry('b', 2n), entry('a', 1n)], true],
  ['keyed lists with another value', keyed(entry('a', 1n)), [entry('a', 2n)], false],
  ['keyed lists with another key', keyed(entry('a', 1n)), [entry('b', 1n)], false],
  ['keyed lists of another size', keyed(entry('a', 1n)), [], false],
  ['keyed lists of scalars', keyed('a'), ['a'], true],
  ['numbers of all types', 1n, new Uint(1n), true],
  ['a number and a text', 1n, '1', false],
  ['NaN', Number.NaN, Number.NaN, false],
  ['types', new TypeValue('int'), new TypeValue('int'), true],
  ['optionals', new Optional(1n), new Optional(1), true],
  ['an optional and none', new Optional(1n), none, false],
  ['durations', new Duration(5n), new Duration(5n), true],
]
for (const [what, a, b, areEqual] of equalities)
  test(`${what} are ${areEqual ? 'equal' : 'different'}`, () => equal(equals(a, b), areEqual))

test('sets and keyed lists are joined by their elements and keys', () => {
  deepEqual([...setOf('a', 'b').joined(['b', 'c'])], ['a', 'b', 'c'])
  const joined = keyed(entry('a', 1n), entry('b', 2n)).joined([entry('b', 3n), entry('c', 4n)])
  deepEqual(
    joined.map((each) => toJson(each)),
    [
      { name: 'a', value: 1 },
      { name: 'b', value: 3 },
      { name: 'c', value: 4 },
    ],
  )
  ok(!(setOf('a').map((each) => each) instanceof SetList), 'a mapped set is an ordinary list')
})

test('texts are ordered by code points', () => {
  ok(compareText('😀', '\uffee') > 0, 'JavaScript orders them the other way')
  ok(compareText('a😀', 'a😀b') < 0)
  ok(compareText('a😀b', 'a😀') > 0)
  equal(compareText('😀', '😀'), 0)
})

const doubles: readonly (readonly [value: number, text: string])[] = [
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [0, '0'],
  [-0, '-0'],
  [1_000_000, '1e+06'],
  [0.000_012, '1.2e-05'],
  [0.0001, '0.0001'],
  [-123.5, '-123.5'],
]
for (const [value, text] of doubles) test(`a double as text: ${text}`, () => equal(doubleText(value), text))

test('keys in errors', () => {
  deepEqual(
    [1.5, new Uint(3n), new Duration(1_000_000_000n), 'a', 1n, null, [], Timestamp.parse('2024-01-01T00:00:00Z')].map(
      (each) => valueText(each),
    ),
    ['1.5', '3', '1s', 'a', '1', 'null', '', '2024-01-01T00:00:00Z'],
  )
})

const inJson: readonly (readonly [value: Value, json: unknown])[] = [
  [new Uint(7n), 7],
  [2n ** 60n, '1152921504606846976'],
  [new Uint8Array([1, 2]), 'AQI='],
  [Timestamp.parse('2024-01-01T00:00:00.5Z'), '2024-01-01T00:00:00.5Z'],
  [new Duration(-1_500_000_000n), '-1.5s'],
  [new Optional(1n), 1],
  [none, undefined],
  [entry('a', null), { name: 'a', value: null }],
]
for (const [value, json] of inJson)
  test(`a value in JSON: ${JSON.stringify(json)}`, () => deepEqual(toJson(value), json))

test('values that JSON cannot represent', () => {
  throws(() => toJson(new LiteralMap([[1n, 'a']])), /unsupported key type in JSON/)
  throws(() => toJson(new TypeValue('int')), /unsupported conversion to JSON/)
  throws(() => fromJson(Symbol('x')), /unsupported type: symbol/)
})

test('a schema determines the types of values', () => {
  ok(fromJson('2024-01-01', timestampType) instanceof Timestamp)
  deepEqual(fromJson('AQI=', bytesType), new Uint8Array([1, 2]))
  ok(fromJson(['a'], { ...listOf(stringType), isSet: true }) instanceof SetList)
  ok(fromJson([{ name: 'a' }], { ...listOf(mapOf(stringType, stringType)), mapKeys: ['name'] }) instanceof MapList)
  const object = fromJson({ a: 1, b: null, other: 2 }, objectType('o', { a: intType, b: boolType, c: intType }))
  ok(object instanceof Object && 'keys' in object)
  deepEqual(toJson(object), { a: 1 })
})

test('large values are found without reading them whole', () => {
  ok(isLarge('x'.repeat(10_001)))
  ok(!isLarge('x'.repeat(10_000)))
  ok(isLarge(Array.from({ length: 1_001 }, () => 1n)))
  ok(isLarge(new LiteralMap(Array.from({ length: 600 }, (_, index) => [`k${index}`, ''.padEnd(20)] as const))))
  ok(isLarge(new Optional(Array.from({ length: 2 }, () => 'x'.repeat(6_000)))))
  for (const small of [1n, true, null, none, new Optional(1n), new Uint8Array(10), new Duration(1n)])
    ok(!isLarge(small))
})
