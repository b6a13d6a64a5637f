// The two sides of a call do not share mutable values: input is copied, output is frozen.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { deepFreeze } from './deep-freeze.ts'
import { jsonCopy } from './json-copy.ts'

const copies: [why: string, value: unknown, copy: unknown][] = [
  ['scalars stay', [1, 'a', true, null], [1, 'a', true, null]],
  ['undefined stays undefined', undefined, undefined],
  ['undefined fields are omitted', { a: undefined, b: { c: undefined } }, { b: {} }],
  ['functions are omitted', { a: () => 1, b: 2 }, { b: 2 }],
  ['holes in arrays become null', [undefined, 1], [null, 1]],
  ['toJSON is used', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['large integers keep their value', { a: 2n ** 60n }, { a: 2n ** 60n }],
]
for (const [why, value, copy] of copies) test(`a JSON copy: ${why}`, () => deepEqual(jsonCopy(value), copy))

test('a JSON copy shares nothing with its original', () => {
  const original = { list: [{ a: 1 }], map: { b: 2 } }
  const copy = jsonCopy(original) as typeof original
  ok(copy !== original && copy.list !== original.list && copy.list[0] !== original.list[0] && copy.map !== original.map)
})

test('a value is frozen deeply; the content of a frozen value is not visited', () => {
  const value = { list: [{ a: 1 }], map: { b: 2 }, bytes: new Uint8Array(2) }
  equal(deepFreeze(value), value)
  throws(() => value.list.push({ a: 2 }), TypeError)
  throws(() => Object.assign(value.list[0] ?? {}, { a: 2 }), TypeError)
  throws(() => Object.assign(value.map, { c: 3 }), TypeError)
  const trap = Object.freeze(new Proxy({}, { ownKeys: () => [], get: () => ok(false, 'it is looked into') }))
  equal(deepFreeze(trap), trap)
})
