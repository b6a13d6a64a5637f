// Unknown fields are removed, or preserved where the schema says so; embedded resources, integers or strings, null values.
import {
  definition,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  put,
  version,
  widgetsOf,
  type Scenario,
  type Schema,
} from '../scenario.ts'

const preserved = { 'x-kubernetes-preserve-unknown-fields': true }

const schema = objectSchema({
  spec: objectSchema({
    known: { type: 'string' },
    inner: objectSchema({ a: { type: 'string' } }),
    open: objectSchema({ a: { type: 'string' }, closed: objectSchema({ b: { type: 'string' } }) }, preserved),
    any: preserved,
    empty: { type: 'object' },
    list: { type: 'array', items: objectSchema({ a: { type: 'string' } }) },
    openList: { type: 'array', items: { type: 'object', ...preserved } },
    map: { type: 'object', additionalProperties: objectSchema({ a: { type: 'string' } }) },
    closedMap: { type: 'object', additionalProperties: false },
    openMap: { type: 'object', additionalProperties: true },
    strings: { type: 'object', additionalProperties: { type: 'string' } },
  }),
})

const pruned = widgetsOf('pruning.example.com')
const pruning: Scenario = {
  name: 'unknown fields are removed',
  definitions: [definition(pruned.group, [version(schema)])],
  steps: [
    pruned.create('top', { unknown: 1, data: { a: 'b' }, status: { a: 1 } }),
    pruned.create('spec', { spec: { known: 'a', unknown: { deep: [1] } } }),
    pruned.create('inner', { spec: { inner: { a: 'b', c: 'd', e: { f: 1 } } } }),
    pruned.create('open', { spec: { open: { a: 'b', c: { d: [1, { e: null }] }, closed: { b: 'c', d: 'e' } } } }),
    pruned.create('any', { spec: { any: { a: [1, 2.5, 'x', null, true], b: { c: {} } } } }),
    pruned.create('any-text', { spec: { any: 'text' } }),
    pruned.create('empty', { spec: { empty: { a: 1, b: { c: 2 } } } }),
    pruned.create('list', { spec: { list: [{ a: 'b', c: 'd' }, { e: 1 }, {}] } }),
    pruned.create('open-list', { spec: { openList: [{ a: 'b', c: { d: 'e' } }, {}] } }),
    pruned.create('map', { spec: { map: { x: { a: 'b', c: 'd' }, y: { e: 1 } } } }),
    pruned.create('closed-map', { spec: { closedMap: { a: 1 } } }),
    pruned.create('open-map', { spec: { openMap: { a: 1, b: { c: 'd' } } } }),
    pruned.create('strings', { spec: { strings: { a: 'b', 'c.d/e': '' } } }),
    put(
      pruned.path('spec'),
      pruned.object('spec', { spec: { known: 'b', other: 1 }, other: 2 }, { resourceVersion: '' }),
    ),
    get(pruned.path('spec'), { label: 'spec' }),
    put(
      pruned.path('spec'),
      pruned.object(
        'spec',
        { spec: { known: 'b', other: 1 } },
        { resourceVersion: '{{spec.metadata.resourceVersion}}' },
      ),
    ),
    ...pruned.replace('spec', { spec: { known: 'c', other: 2 }, more: 1 }),
    patch(pruned.path('spec'), mergePatch, { spec: { other: 1, inner: { a: 'x', y: 'z' } } }),
    patch(pruned.path('spec'), jsonPatch, [{ op: 'add', path: '/spec/other', value: 1 }]),
    patch(pruned.path('spec'), jsonPatch, [{ op: 'test', path: '/spec/other', value: 1 }]),
    pruned.create('metadata', { metadata: { name: 'metadata', unknown: 1, labels: { a: 'b' } } }),
    pruned.create('prototype', '{}' as unknown as object, {
      body: `{"apiVersion":"pruning.example.com/v1","kind":"Widget","metadata":{"name":"prototype"},"spec":{"__proto__":{"a":1},"constructor":1,"any":{"__proto__":{"b":2},"toString":1}}}`,
    }),
    pruned.create('numbers', undefined, {
      body: '{"apiVersion":"pruning.example.com/v1","kind":"Widget","metadata":{"name":"numbers"},"spec":{"any":[1.0,1e3,1.50,-0,9007199254740993,9223372036854775807,1e400,0.1]}}',
    }),
    pruned.create('numbers', undefined, {
      body: '{"apiVersion":"pruning.example.com/v1","kind":"Widget","metadata":{"name":"numbers"},"spec":{"any":[1.0,1e3,1.50,-0,9007199254740993,9223372036854775807,18446744073709551615,1e21,1e-7,0.1]}}',
    }),
    pruned.create('texts', { spec: { any: ['<a&b>', '\u2028', 'é', '😀', '\u0000\u001f', '"\\/'] } }),
    get(pruned.list),
  ],
}

const everything = widgetsOf('preserving.example.com')
const preserving: Scenario = {
  name: 'a schema that preserves unknown fields everywhere',
  definitions: [definition(everything.group, [version({ type: 'object', ...preserved })])],
  steps: [
    everything.create('a', { spec: { x: [{ y: 1 }] }, data: null, other: 'text' }),
    everything.create('b', { metadata: { name: 'b', unknown: { a: 1 } }, list: [], map: {} }),
    patch(everything.path('a'), mergePatch, { spec: { x: null, z: { w: null, v: 1 } } }),
    patch(everything.path('a'), mergePatch, { data: { '': 'empty key' } }),
    get(everything.path('a')),
  ],
}

const embeddedSchema: Schema = objectSchema({
  open: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserved },
  closed: objectSchema({ spec: objectSchema({ a: { type: 'string' } }) }, { 'x-kubernetes-embedded-resource': true }),
  list: { type: 'array', items: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserved } },
})
const embedding = widgetsOf('embedding.example.com')
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }
const embedded: Scenario = {
  name: 'embedded resources are validated and pruned',
  definitions: [definition(embedding.group, [version(embeddedSchema)])],
  steps: [
    embedding.create('a', { open: { ...pod, spec: { x: 1 } }, closed: { ...pod, spec: { a: 'b', c: 'd' }, other: 1 } }),
    embedding.create('b', { open: {} }),
    embedding.create('c', { open: { apiVersion: 1, kind: 2, metadata: 3 } }),
    embedding.create('d', { closed: { apiVersion: 'a/b/c', kind: '' } }),
    embedding.create('e', { open: { ...pod, metadata: { name: 'A b', namespace: '_', labels: { 'x y': 'z w' } } } }),
    embedding.create('f', { open: { ...pod, metadata: { labels: { a: 1 }, annotations: [], finalizers: 'x' } } }),
    embedding.create('g', { open: { ...pod, metadata: { name: 'x', unknown: 1, creationTimestamp: 'now' } } }),
    embedding.create('h', { open: { ...pod, metadata: { generateName: 'X y', ownerReferences: [{ name: 'a' }] } } }),
    embedding.create('i', { list: [pod, { ...pod, kind: 'pod s' }, { kind: 'A', apiVersion: 'v1' }] }),
    embedding.create('j', { closed: { ...pod, metadata: { name: 'x', creationTimestamp: null, other: 2 } } }),
    embedding.create('k', { open: 'text', closed: [], list: {} }),
  ],
}

const mixed = widgetsOf('mixed.example.com')
const mixedSchema = objectSchema({
  port: { 'x-kubernetes-int-or-string': true },
  limited: {
    'x-kubernetes-int-or-string': true,
    allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { minimum: 1, maximum: 10, pattern: '^[0-9]+%$' }],
  },
  null: { type: 'string', nullable: true },
  solid: { type: 'string' },
  nullObject: objectSchema({ a: { type: 'string' } }, { nullable: true }),
  nullList: { type: 'array', nullable: true, items: { type: 'integer', nullable: true } },
  nullDefault: { type: 'string', nullable: true, default: 'x' },
  solidDefault: { type: 'string', default: 'y' },
  map: { type: 'object', additionalProperties: { type: 'string', nullable: true } },
  solidMap: { type: 'object', additionalProperties: { type: 'string' } },
  enum: { type: 'string', nullable: true, enum: ['a', 'b'] },
  enumWithNull: { type: 'string', nullable: true, enum: ['a', null] },
})
const values: Scenario = {
  name: 'integers or strings, and null',
  definitions: [definition(mixed.group, [version(mixedSchema)])],
  steps: [
    mixed.create('a', { port: 80, limited: 5 }),
    mixed.create('b', { port: 'http', limited: '50%' }),
    mixed.create('c', { port: 1.5 }),
    mixed.create('d', { port: true, limited: [] }),
    mixed.create('e', { limited: 11 }),
    mixed.create('f', { limited: 'a' }),
    mixed.create('g', { port: null, limited: null }),
    mixed.create('h', { null: null, nullObject: null, nullList: null }),
    mixed.create('i', { solid: null }),
    mixed.create('j', { nullDefault: null, solidDefault: null }),
    mixed.create('k', { nullList: [1, null], map: { a: null, b: 'c' } }),
    mixed.create('l', { solidMap: { a: null } }),
    mixed.create('m', { nullObject: { a: null } }),
    mixed.create('n', { enum: null }),
    mixed.create('o', { enumWithNull: null }),
    mixed.create('p', { enum: 'c', enumWithNull: 'b' }),
    patch(mixed.path('h'), mergePatch, { null: 'text', nullDefault: null }),
    patch(mixed.path('h'), jsonPatch, [{ op: 'add', path: '/null', value: null }]),
    mixed.apply('one', 'h', { null: null, nullList: [null] }, '&force=true'),
    mixed.apply('one', 'q', { solidDefault: null, solid: null }),
  ],
}

export const prunings: readonly Scenario[] = [pruning, preserving, embedded, values]
