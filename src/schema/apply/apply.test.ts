// Field sets, comparison and merge by structure, as tables, and properties that hold for all of them.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, type Random } from '../../base/random/random.ts'
import { atomicMessage, bool, int32, list, map, message, rawExtension, string, struct } from '../descriptor/field.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { randomInstance } from '../descriptor/random-instance.harness.ts'
import { appliedFields } from './applied-fields.ts'
import { checkApplied } from './check-applied.ts'
import { compare } from './compare.ts'
import { difference, intersection, isEmptySet, isFieldSet, pathTexts, union, type FieldSet } from './field-set.ts'
import { removeFields, withStructs } from './remove-fields.ts'
import { structureOf } from './structure.ts'
import { typedMerge } from './typed-merge.ts'

const reference = atomicMessage('test.v1.Reference', { name: string(1), kind: string(2) })
const port = message('test.v1.Port', {
  number: int32(1, { required: true }),
  protocol: string(2, { default: 'TCP' }),
  note: string(3),
})
const inner = message('test.v1.Inner', { size: int32(1), on: bool(2, { pointer: true }) })
const box = message('test.v1.Box', {
  name: string(1),
  inner: struct(2, inner),
  maybe: struct(3, inner, { pointer: true }),
  reference: struct(4, reference, { pointer: true }),
  labels: map(5, 'string'),
  selector: map(6, 'string', { mapType: 'atomic' }),
  tags: list(7, 'string', { listType: 'set' }),
  words: list(8, 'string'),
  ports: list(9, port, { listType: 'map', keys: ['number', 'protocol'] }),
  parts: list(10, port, { listType: 'map', keys: ['number'], required: true }),
  any: rawExtension(11, { pointer: true }),
})
const structure = structureOf(box)

const paths = (set: FieldSet): string[] => pathTexts(set).toSorted()

const compared: [why: string, old: JsonObject, next: JsonObject, changed: string[], removed: string[]][] = [
  ['nothing', { name: 'a', words: ['x'] }, { name: 'a', words: ['x'] }, [], []],
  ['a value', { name: 'a' }, { name: 'b' }, ['.name'], []],
  ['an added value', {}, { name: 'b' }, ['.name'], []],
  ['a removed value', { name: 'b' }, {}, [], ['.name']],
  ['a struct without a pointer exists before', { inner: {} }, { inner: { size: 1 } }, ['.inner.size'], []],
  ['a struct behind a pointer is added itself', {}, { maybe: { size: 1 } }, ['.maybe', '.maybe.size'], []],
  ['an empty struct is one field', {}, { maybe: {} }, ['.maybe'], []],
  ['an atomic struct', { reference: { name: 'a' } }, { reference: { name: 'b' } }, ['.reference'], []],
  ['a map', { labels: { a: '1', b: '1' } }, { labels: { b: '2', c: '1' } }, ['.labels.b', '.labels.c'], ['.labels.a']],
  ['an atomic map', { selector: { a: '1' } }, { selector: { a: '1', b: '1' } }, ['.selector'], []],
  ['a set', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, ['.tags[="c"]'], ['.tags[="a"]']],
  ['the order of a set', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, [], []],
  ['an atomic list', { words: ['a'] }, { words: ['a', 'b'] }, ['.words'], []],
  [
    'a map list by its keys, of which one has a default',
    { ports: [{ number: 80, note: 'a' }] },
    {
      ports: [
        { number: 80, protocol: 'TCP', note: 'b' },
        { number: 53, protocol: 'UDP' },
      ],
    },
    [
      '.ports[number=53,protocol="UDP"]',
      '.ports[number=53,protocol="UDP"].number',
      '.ports[number=53,protocol="UDP"].protocol',
      '.ports[number=80,protocol="TCP"].note',
      '.ports[number=80,protocol="TCP"].protocol',
    ],
    [],
  ],
  [
    'a list that Go always writes is not added itself',
    {},
    { parts: [{ number: 1 }] },
    ['.parts[number=1]', '.parts[number=1].number'],
    [],
  ],
  [
    'items with the same element are one field',
    { parts: [{ number: 1 }] },
    { parts: [{ number: 1 }, { number: 1, note: 'b' }] },
    ['.parts[number=1]'],
    ['.parts[number=1]', '.parts[number=1].number'],
  ],
  ['JSON of any shape', { any: { a: { b: 1 }, l: [1] } }, { any: { a: { b: 2 }, l: [2] } }, ['.any.a.b', '.any.l'], []],
]
for (const [why, old, next, changed, removed] of compared)
  test(`compare: ${why}`, () => {
    const found = compare(structure, old, next)
    deepEqual([paths(found.changed), paths(found.removed)], [changed, removed])
  })

test("elements have upstream's order: names, keys by value", () => {
  const { changed } = compare(
    structure,
    {},
    {
      parts: [{ number: 443 }, { number: 80 }],
      labels: { b: '1', a: '1' },
      inner: { size: 1 },
    },
  )
  equal(
    JSON.stringify(changed),
    '{"f:inner":{"f:size":{}},"f:labels":{".":{},"f:a":{},"f:b":{}},' +
      '"f:parts":{"k:{\\"number\\":80}":{".":{},"f:number":{}},"k:{\\"number\\":443}":{".":{},"f:number":{}}}}',
  )
})

test('an applied configuration owns the fields that it sets', () => {
  const claims = appliedFields(structure, {
    apiVersion: 'v1',
    name: '',
    inner: { size: 0 },
    maybe: {},
    labels: { a: '1' },
    tags: ['x'],
    words: [],
    ports: [],
    parts: [{ number: 1 }],
    selector: {},
    reference: null,
  })
  deepEqual(paths(claims), [
    '.inner.size',
    '.labels.a',
    '.maybe',
    '.name',
    '.parts[number=1]',
    '.parts[number=1].number',
    '.reference',
    '.selector',
    '.tags[="x"]',
    '.words',
  ])
})

const merged: [why: string, live: JsonObject, applied: JsonObject, result: JsonObject][] = [
  [
    'structs by their fields',
    { inner: { size: 1 }, name: 'a' },
    { inner: { on: true } },
    { inner: { size: 1, on: true }, name: 'a' },
  ],
  [
    'atomic values as a whole',
    { selector: { a: '1' }, words: ['a'] },
    { selector: { b: '1' }, words: [] },
    { selector: { b: '1' }, words: [] },
  ],
  ['an empty list owns nothing', { parts: [{ number: 1 }] }, { parts: [] }, { parts: [{ number: 1 }] }],
  ['null for a struct owns nothing', { inner: { size: 1 } }, { inner: null }, { inner: { size: 1 } }],
  [
    'applied items are in the applied order',
    { tags: ['a', 'b', 'c'] },
    { tags: ['c', 'a'] },
    { tags: ['b', 'c', 'a'] },
  ],
  [
    'live items keep their position',
    { tags: ['a', 'x', 'b'] },
    { tags: ['a', 'n', 'b'] },
    { tags: ['a', 'x', 'n', 'b'] },
  ],
  ['new items are appended', { tags: ['a', 'b'] }, { tags: ['c'] }, { tags: ['a', 'b', 'c'] }],
  [
    'items by their keys',
    {
      ports: [
        { number: 1, protocol: 'TCP', note: 'a' },
        { number: 2, protocol: 'TCP' },
      ],
    },
    { ports: [{ number: 2, note: 'b' }] },
    {
      ports: [
        { number: 1, protocol: 'TCP', note: 'a' },
        { number: 2, protocol: 'TCP', note: 'b' },
      ],
    },
  ],
]
for (const [why, live, applied, result] of merged)
  test(`merge: ${why}`, () => deepEqual(typedMerge(structure, live, applied), result))

const rejected: [applied: JsonObject, error: string][] = [
  [{ nmae: 'a' }, '.nmae: field not declared in schema'],
  [{ reference: { nmae: 'a' } }, '.reference.nmae: field not declared in schema'],
  [{ name: 1 }, '.name: expected string, got &value.valueUnstructured{Value:1}'],
  [{ inner: { size: 'big' } }, '.inner.size: expected numeric (int or float), got string'],
  [{ inner: [] }, '.inner: expected map, got &{[]}'],
  [{ parts: { a: 1 } }, '.parts: expected list, got &{map[a:1]}'],
  [{ tags: ['a', 'a'] }, '.tags: duplicate entries for key [="a"]'],
  [{ parts: [{ number: 1 }, { number: 1 }] }, '.parts: duplicate entries for key [number=1]'],
  [
    { parts: [{ note: 'a' }] },
    `.parts: element 0: associative list with keys has an element that omits all key fields ["number"] (and doesn't have default values for any key fields)`,
  ],
]
for (const [applied, error] of rejected)
  test(`rejected: ${error}`, () => deepEqual(checkApplied(structure, applied), [error]))

test('removing a field removes its content, and leaves null where nothing is left', () => {
  const object = { name: 'a', labels: { a: '1' }, ports: [{ number: 1, note: 'x' }], maybe: { size: 1 } }
  const fields = {
    'f:labels': { 'f:a': {} },
    'f:ports': { 'k:{"number":1,"protocol":"TCP"}': { 'f:note': {} } },
    'f:maybe': {},
  }
  deepEqual(removeFields(structure, object, fields), { name: 'a', labels: null, ports: [{ number: 1 }] })
})

test('the owner of a field also owns the structs around it, but not the items', () => {
  const item = 'k:{"number":1}'
  deepEqual(paths(withStructs(structure, { 'f:maybe': { 'f:size': {} }, 'f:parts': { [item]: { 'f:note': {} } } })), [
    '.maybe',
    '.maybe.size',
    '.parts',
    '.parts[number=1].note',
  ])
})

const sound: [value: JsonValue, isSound: boolean][] = [
  [{}, true],
  [{ 'f:a': { '.': {}, 'k:{"x":1}': {}, 'v:"y"': {}, 'i:0': {} } }, true],
  [{ a: {} }, false],
  [{ 'f:a': null }, false],
  [{ 'k:nonsense': {} }, false],
  [{ 'i:x': {} }, false],
  [[], false],
]
for (const [value, isSound] of sound)
  test(`${JSON.stringify(value)} ${isSound ? 'is' : 'is not'} a field set`, () => equal(isFieldSet(value), isSound))

/** A random object as a client would apply it: without duplicate items and empty lists. */
function randomBox(random: Random): JsonObject {
  const { tags = [], ports = [], parts = [], ...rest } = randomInstance(box, random) as Record<string, JsonValue[]>
  const lists = {
    tags: [...new Set(tags)],
    ports: unique(ports, ({ number, protocol }) => `${String(number)}/${String(protocol ?? 'TCP')}`),
    parts: unique(parts, ({ number }) => String(number)),
  }
  return { ...rest, ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)) }
}

const unique = (items: readonly JsonValue[], keyOf: (item: JsonObject) => string): JsonObject[] => [
  ...new Map((items as JsonObject[]).filter((item) => 'number' in item).map((item) => [keyOf(item), item])).values(),
]

test('the algebra of field sets is that of sets of paths', () => {
  const random = seededRandom(7)
  for (let round = 0; round < 300; round++) {
    const [a, b] = [0, 1].map(() => appliedFields(structure, randomBox(random))) as [FieldSet, FieldSet]
    const left = new Set(pathTexts(a))
    const right = new Set(pathTexts(b))
    deepEqual(paths(union(a, b)), [...left.union(right)].toSorted())
    deepEqual(paths(difference(a, b)), [...left.difference(right)].toSorted())
    deepEqual(paths(intersection(a, b)), [...left.intersection(right)].toSorted())
    ok(isEmptySet(difference(a, a)))
    ok(isFieldSet(union(a, b)))
  }
})

test('merging the same configuration twice is merging it once, and then nothing differs from it', () => {
  const random = seededRandom(11)
  for (let round = 0; round < 300; round++) {
    const live = randomBox(random)
    const applied = randomBox(random)
    deepEqual(checkApplied(structure, applied), [])
    const once = typedMerge(structure, live, applied)
    deepEqual(typedMerge(structure, once, applied), once)
    // All differences between the live and the merged object were applied.
    const { changed } = compare(structure, live, once)
    const claims = new Set(pathTexts(withStructs(structure, appliedFields(structure, applied))))
    for (const path of pathTexts(changed)) ok(claims.has(path) || path.startsWith('.any'), path)
  }
})

test('removing an object and adding it again removes and adds the same fields', () => {
  const random = seededRandom(13)
  for (let round = 0; round < 300; round++) {
    const object = randomBox(random)
    const gone = compare(structure, object, {})
    const come = compare(structure, {}, object)
    deepEqual(paths(gone.removed), paths(come.changed))
    const same = compare(structure, object, structuredClone(object))
    ok(isEmptySet(same.changed) && isEmptySet(same.removed))
  }
})
