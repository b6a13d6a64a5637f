// Bounds of JSON patches. The operations are tested in schema.test.ts.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonDepthMax } from '../json/json-depth.ts'
import { jsonPatch, JsonPatchError, jsonPatchCopiedCharactersMax, type JsonPatchOperation } from './json-patch.ts'
import type { JsonValue } from '../json/json-value.ts'

const zeros = (length: number): JsonValue[] => Array.from({ length }, () => 0)
const operations = (length: number, operation: JsonPatchOperation) => Array.from({ length }, () => operation)

test('the target is not modified, even if a value is changed several times or is in two places', () => {
  const shared = { list: [1] }
  const target = { a: shared, b: shared }
  const patched = jsonPatch(target, [
    { op: 'add', path: '/a/list/-', value: 2 },
    { op: 'add', path: '/a/list/0', value: 0 },
    { op: 'copy', from: '/a', path: '/c' },
    { op: 'remove', path: '/c/list/0' },
    { op: 'move', from: '/a', path: '/d' },
    { op: 'replace', path: '/d/list/0', value: 9 },
  ])
  deepEqual(patched, { b: { list: [1] }, c: { list: [1, 2] }, d: { list: [9, 1, 2] } })
  deepEqual(target, { a: { list: [1] }, b: { list: [1] } })
})

test('a value of the patch is not changed by a later operation', () => {
  const value = { x: 1 }
  deepEqual(
    jsonPatch({}, [
      { op: 'add', path: '/a', value },
      { op: 'add', path: '/a/y', value: 2 },
    ]),
    { a: { x: 1, y: 2 } },
  )
  deepEqual(value, { x: 1 })
})

test('`__proto__` is a name like any other', () => {
  const patched = jsonPatch({}, [{ op: 'add', path: '/__proto__', value: 1 }])
  deepEqual(Object.keys(patched as object), ['__proto__'])
  equal(Object.getPrototypeOf(patched), Object.prototype)
})

const rejected: [why: string, target: JsonValue, patch: readonly JsonPatchOperation[], message: RegExp][] = [
  [
    'copies that grow beyond the bound',
    { a: 'x'.repeat(jsonPatchCopiedCharactersMax / 2) },
    [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'copy', from: '/a', path: '/c' },
    ],
    /^JsonPatchError: Unable to copy, the accumulated size increase of copy is 3145732, exceeding the limit 3145728$/,
  ],
  [
    'items that move again and again',
    { list: zeros(300_000) },
    operations(10_000, { op: 'add', path: '/list/0', value: 0 }),
    /visits more than/,
  ],
  [
    'tests of a long value',
    { list: zeros(10_000) },
    operations(1_000, { op: 'test', path: '/list', value: zeros(10_000) }),
    /visits more than/,
  ],
  [
    'moves of a long value',
    { a: zeros(10_000) },
    operations(1_000, { op: 'move', from: '/a', path: '/a' }),
    /visits more than/,
  ],
]
for (const [why, target, patch, message] of rejected)
  test(`a patch is bounded: ${why}`, () => {
    throws(() => jsonPatch(target, patch), message)
  })

test('a patch cannot nest values deeper than a body', () => {
  const half = jsonDepthMax / 2
  const nested = JSON.parse(`${'{"a":'.repeat(half)}{}${'}'.repeat(half)}`) as JsonValue
  const path = '/a'.repeat(half)
  jsonPatch(nested, [{ op: 'add', path: `${path}/b`, value: 1 }])
  throws(() => jsonPatch(nested, [{ op: 'add', path: `${path}/b`, value: nested }]), JsonPatchError)
  throws(() => jsonPatch({ a: nested }, [{ op: 'copy', from: '/a', path: `/a${path}/b` }]), /exceeded max depth/)
})
