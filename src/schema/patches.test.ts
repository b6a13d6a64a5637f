// Tables for the three types of patches.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonPatch, JsonPatchError, type JsonPatchOperation } from './patch/json-patch.ts'
import type { JsonObject, JsonValue } from './json/json-value.ts'
import { mergePatch } from './patch/merge-patch.ts'
import { strategicMerge, StrategicMergeError } from './patch/strategic-merge.ts'
import { box } from './schema.harness.ts'

// The examples of RFC 7386.
const merges: [target: JsonValue, patch: JsonValue, result: JsonValue][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [['a'], { a: 'b' }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
for (const [target, patch, result] of merges)
  test(`merge patch ${JSON.stringify(patch)} on ${JSON.stringify(target)}`, () =>
    deepEqual(mergePatch(target, patch), result))

const patches: [operations: JsonPatchOperation[], result: JsonValue | RegExp][] = [
  [[{ op: 'add', path: '/b', value: 1 }], { a: [1, 2], b: 1 }],
  [[{ op: 'add', path: '/a/1', value: 9 }], { a: [1, 9, 2] }],
  [[{ op: 'add', path: '/a/-', value: 9 }], { a: [1, 2, 9] }],
  [[{ op: 'remove', path: '/a/0' }], { a: [2] }],
  [[{ op: 'replace', path: '/a', value: 'x' }], { a: 'x' }],
  [[{ op: 'replace', path: '/a/1', value: 'x' }], { a: [1, 'x'] }],
  [[{ op: 'move', from: '/a/0', path: '/c' }], { a: [2], c: 1 }],
  [[{ op: 'copy', from: '/a', path: '/c' }], { a: [1, 2], c: [1, 2] }],
  [
    [
      { op: 'add', path: '/x~1y', value: { 'p~q': 1 } },
      { op: 'replace', path: '/x~1y/p~0q', value: 2 },
    ],
    { a: [1, 2], 'x/y': { 'p~q': 2 } },
  ],
  [
    [
      { op: 'test', path: '/a', value: [1, 2] },
      { op: 'remove', path: '/a' },
    ],
    {},
  ],
  [[{ op: 'test', path: '/a', value: 1 }], /testing value \/a failed/],
  [[{ op: 'test', path: '/none', value: null }], { a: [1, 2] }],
  [[{ op: 'remove', path: '/none' }], /nonexistent key: none/],
  [[{ op: 'replace', path: '/none', value: 1 }], { a: [1, 2], none: 1 }],
  [[{ op: 'replace', path: '/none/deeper', value: 1 }], /missing path: "\/none\/deeper"/],
  [[{ op: 'replace', path: '', value: {} }], {}],
  [[{ op: 'add', path: '/a/7', value: 1 }], /invalid index: 7/],
  [[{ op: 'add', path: '/a/-1', value: 9 }], { a: [1, 2, 9] }],
  [[{ op: 'remove', path: '/a/-1' }], { a: [1] }],
  [[{ op: 'remove', path: '/a/-3' }], /invalid index: -3/],
  [[{ op: 'copy', from: '/none/deeper', path: '/b' }], /missing path/],
  [
    [
      { op: 'add', path: '/__proto__', value: { x: 1 } },
      { op: 'test', path: '/x', value: null },
    ],
    JSON.parse('{"a":[1,2],"__proto__":{"x":1}}') as JsonValue,
  ],
  [[{ op: 'explode' as 'add', path: '/a' }], /Unexpected kind: explode/],
]
for (const [operations, result] of patches)
  test(`JSON patch ${JSON.stringify(operations)}`, () => {
    const target = Object.freeze({ a: Object.freeze([1, 2]) }) as JsonValue
    if (result instanceof RegExp) throws(() => jsonPatch(target, operations), result)
    else deepEqual(jsonPatch(target, operations), result)
  })

test('the copies of a JSON patch are bounded', () => {
  const copies = Array.from({ length: 24 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }) as const)
  throws(() => jsonPatch({ a: [1] }, copies), JsonPatchError)
})

const strategic: [why: string, target: JsonObject, patch: JsonObject, result: JsonObject][] = [
  [
    'a list with a key merges by it',
    { parts: [{ name: 'a', size: 1 }, { name: 'b' }] },
    { parts: [{ name: 'b', size: 2 }, { name: 'c' }] },
    { parts: [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c' }] },
  ],
  [
    '$patch: delete removes an element',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { parts: [{ name: 'a', $patch: 'delete' }] },
    { parts: [{ name: 'b' }] },
  ],
  [
    '$patch: replace replaces a list',
    { parts: [{ name: 'a' }] },
    { parts: [{ name: 'z' }, { $patch: 'replace' }] },
    { parts: [{ name: 'z' }] },
  ],
  [
    '$patch: replace replaces a struct',
    { inner: { name: 'a', size: 1 } },
    { inner: { $patch: 'replace', name: 'b' } },
    { inner: { name: 'b' } },
  ],
  [
    'a list without a strategy is replaced',
    { plain: [{ name: 'a' }] },
    { plain: [{ name: 'b' }] },
    { plain: [{ name: 'b' }] },
  ],
  ['a set is merged', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { tags: ['a', 'b', 'c'] }],
  [
    '$deleteFromPrimitiveList removes from a set',
    { tags: ['a', 'b'] },
    { '$deleteFromPrimitiveList/tags': ['a'] },
    { tags: ['b'] },
  ],
  [
    '$setElementOrder sorts, and other elements stay before their successors',
    { parts: [{ name: 'a' }, { name: 'x' }, { name: 'b' }] },
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'a' }] },
    { parts: [{ name: 'x' }, { name: 'b' }, { name: 'a' }] },
  ],
  [
    '$retainKeys drops the others',
    { inner: { name: 'a', size: 1 } },
    { inner: { $retainKeys: ['name'], name: 'b' } },
    { inner: { name: 'b' } },
  ],
  [
    'new elements are first, deleted ones are removed, others stay',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { parts: [{ name: 'c' }, { name: 'b', $patch: 'delete' }] },
    { parts: [{ name: 'c' }, { name: 'a' }] },
  ],
  [
    'nulls and directives are removed from a new value',
    {},
    {
      inner: { name: 'a', size: null },
      parts: [
        { name: 'a', $patch: 'delete' },
        { name: 'b', size: null },
      ],
    },
    { inner: { name: 'a' }, parts: [{ name: 'b' }] },
  ],
  [
    '$setElementOrder orders new elements among old ones',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'c' }, { name: 'a' }], parts: [{ name: 'c' }] },
    { parts: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] },
  ],
  [
    '$setElementOrder orders a set',
    { tags: ['a', 'b', 'c'] },
    { '$setElementOrder/tags': ['c', 'a'], '$deleteFromPrimitiveList/tags': ['b'] },
    { tags: ['c', 'a'] },
  ],
  ['$patch: delete empties a map', { labels: { x: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    '$patch: replace replaces a map',
    { labels: { x: '1' } },
    { labels: { $patch: 'replace', y: '2' } },
    { labels: { y: '2' } },
  ],
  [
    'null removes, and maps are merged',
    { name: 'a', labels: { x: '1', y: '2' } },
    { name: null, labels: { x: null, z: '3' } },
    { labels: { y: '2', z: '3' } },
  ],
]
for (const [why, target, patch, result] of strategic)
  test(`strategic merge: ${why}`, () => deepEqual(strategicMerge(box, target, patch), result))

const rejectedMerges: [why: string, patch: JsonObject, message: RegExp][] = [
  ['an element without its merge key', { parts: [{ size: 1 }] }, /does not contain declared merge key: name/],
  ['an element of another shape', { parts: ['x'] }, /cannot be merged with x/],
  ['an unknown directive', { inner: { $patch: 'explode' } }, /Unknown patch type "explode"/],
  ['an unknown directive in a list', { parts: [{ name: 'a', $patch: 'explode' }] }, /Unknown patch type "explode"/],
  ['a key that is not in $retainKeys', { inner: { $retainKeys: ['name'], size: 1 } }, /format of retainKeys/],
  ['$retainKeys that is not a list', { inner: { $retainKeys: 'name' } }, /format of retainKeys/],
  ['$setElementOrder that is not a list', { '$setElementOrder/parts': 'a' }, /format of setElementOrder/],
  [
    '$setElementOrder that does not match the elements',
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'a' }], parts: [{ name: 'a' }, { name: 'b' }] },
    /doesn't match \$setElementOrder/,
  ],
  ['$deleteFromPrimitiveList that is not a list', { '$deleteFromPrimitiveList/tags': 'a' }, /format of primitive list/],
]
for (const [why, patch, expected] of rejectedMerges)
  test(`strategic merge rejects ${why}`, () =>
    throws(
      () => strategicMerge(box, { parts: [{ name: 'a' }], inner: { name: 'a' }, tags: ['a'] }, patch),
      (error) => error instanceof StrategicMergeError && expected.test(error.message),
    ))
