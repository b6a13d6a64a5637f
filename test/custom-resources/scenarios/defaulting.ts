// Defaults are set on create, on update, on read after the schema has changed, and on apply.
import {
  definition,
  definitionsPath,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const schema = objectSchema({
  spec: objectSchema(
    {
      text: { type: 'string', default: 'x' },
      count: { type: 'integer', default: 3 },
      ratio: { type: 'number', default: 0.5 },
      on: { type: 'boolean', default: true },
      none: { type: 'string', default: '' },
      list: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] },
      objects: {
        type: 'array',
        items: objectSchema({ name: { type: 'string' }, protocol: { type: 'string', default: 'TCP' } }),
      },
      inner: objectSchema({ a: { type: 'string', default: 'b' }, c: { type: 'string' } }),
      withDefault: objectSchema(
        { a: { type: 'string', default: 'b' }, c: { type: 'string' } },
        { default: { c: 'd' } },
      ),
      map: {
        type: 'object',
        additionalProperties: objectSchema({ a: { type: 'integer', default: 1 } }),
        default: { k: {} },
      },
      mixed: { 'x-kubernetes-int-or-string': true, default: 80 },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { any: ['x', 1] } },
    },
    { default: {} },
  ),
  status: objectSchema({ phase: { type: 'string', default: 'New' } }),
})

const widgets = widgetsOf('defaulting.example.com')
const onWrite: Scenario = {
  name: 'defaults are set by every write',
  definitions: [definition(widgets.group, [version(schema, { subresources: { status: {} } })])],
  steps: [
    widgets.create('a'),
    widgets.create('b', { spec: {} }),
    widgets.create('c', { spec: { text: 'y', list: [], objects: [{ name: 'n' }, { protocol: 'UDP' }], inner: {} } }),
    widgets.create('d', { spec: { withDefault: {}, map: { x: {}, y: { a: 2 } }, free: {} } }),
    widgets.create('e', { spec: null }),
    widgets.create('f', { spec: { text: null, count: null, list: null, inner: null } }),
    ...widgets.replace('c', { spec: { inner: { c: 'e' } } }),
    ...widgets.replace('c'),
    patch(widgets.path('c'), mergePatch, { spec: { text: null, objects: [{ name: 'o' }] } }),
    patch(widgets.path('c'), jsonPatch, [{ op: 'remove', path: '/spec/count' }]),
    patch(widgets.path('c'), jsonPatch, [{ op: 'remove', path: '/spec' }]),
    patch(`${widgets.path('c')}/status`, mergePatch, { status: {} }),
    patch(`${widgets.path('c')}/status`, mergePatch, { status: { phase: null } }),
    widgets.apply('one', 'g', { spec: { objects: [{ name: 'a' }] } }),
    widgets.apply('one', 'g', { spec: { text: 'z' } }),
    widgets.apply('one', 'g', {}),
  ],
}

const before = objectSchema({ spec: objectSchema({ a: { type: 'string' } }) })
const after = objectSchema({
  spec: objectSchema({
    a: { type: 'string' },
    b: { type: 'string', default: 'later' },
    c: objectSchema({ d: { type: 'integer', default: 1 } }),
  }),
  other: { type: 'string', default: 'top' },
})
const read = widgetsOf('reading.example.com')
const onRead: Scenario = {
  name: 'defaults that are added later are set by every read',
  definitions: [definition(read.group, [version(before)])],
  steps: [
    read.create('a', { spec: { a: 'x' } }),
    read.create('b'),
    patch(`${definitionsPath}/widgets.${read.group}`, jsonPatch, [
      { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: after },
    ]),
    get(read.path('a'), { until: ({ body }) => body.other === 'top' }),
    get(read.path('b'), { until: ({ body }) => body.other === 'top' }),
    get(read.list),
    get(
      `${read.list}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=60`,
      { events: 3 },
    ),
    patch(read.path('a'), mergePatch, { metadata: { labels: { a: 'b' } } }),
    ...read.replace('b', { spec: { c: {} } }),
    read.apply('one', 'a', { spec: { a: 'x' } }, '&force=true'),
    get(read.path('a'), { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    patch(`${definitionsPath}/widgets.${read.group}`, jsonPatch, [
      {
        op: 'replace',
        path: '/spec/versions/0/schema/openAPIV3Schema',
        value: objectSchema({ spec: objectSchema({}) }),
      },
    ]),
    get(read.path('a'), { until: ({ body }) => body.other === undefined && body.spec?.a === undefined }),
    get(read.path('b')),
  ],
}

export const defaulting: readonly Scenario[] = [onWrite, onRead]
