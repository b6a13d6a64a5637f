// Details of definitions: lists in defaults, names that the server generates, defaults beside preserved fields, defaults of embedded
// resources, `$schema`, and the cost of all expressions of a definition.
import {
  definition,
  definitionsPath,
  objectSchema,
  post,
  tryDefinition,
  version,
  type Scenario,
  type Schema,
  type Step,
} from '../scenario.ts'

const group = 'details.example.com'
const root = (schema: Schema): Step => tryDefinition(definition(group, [version(schema)]))
/** The schema of one property. */
const field = (schema: unknown): Step => root(objectSchema({ field: schema }))
const fields = (properties: Schema): Step => root(objectSchema(properties))

const strings = { type: 'array', items: { type: 'string' } }
const pairs = {
  type: 'array',
  items: { type: 'object', required: ['key'], properties: { key: { type: 'string' }, value: { type: 'integer' } } },
}
const keyed = { ...pairs, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'] }

const lists: Scenario = {
  name: 'lists in defaults',
  definitions: [],
  steps: [
    field({ ...strings, default: ['a', 1] }),
    field({ ...strings, default: [1, 'a', null, {}] }),
    field({ type: 'array', items: { type: 'string', maxLength: 1 }, default: ['a', 'ab', 'b', 'abc'] }),
    field({ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a', 'c'] }),
    field({ type: 'array', items: { type: 'integer', minimum: 2 }, default: [2, 1] }),
    field({ ...pairs, default: [{ key: 'a' }, { value: 1 }] }),
    field({ ...pairs, default: [{ key: 'a' }, { key: 'b', value: 'x' }] }),
    field({ ...pairs, default: [{ key: 'a', other: 1 }, { key: 'b' }, { key: 'c', another: { x: 1 } }] }),
    field({ ...keyed, default: [{ key: 'a' }, { key: 'a' }] }),
    field({ ...keyed, default: [{ key: 'a' }, { key: 'b' }, { key: 'a', value: 1 }] }),
    field({ ...strings, 'x-kubernetes-list-type': 'set', default: ['a', 'b', 'a'] }),
    field({ type: 'object', properties: { list: strings }, default: { list: ['a', 2] } }),
    field({ type: 'object', properties: { list: { ...strings, default: ['a', 2] } } }),
    field({ type: 'object', additionalProperties: strings, default: { x: ['a', 2] } }),
    field({ type: 'object', additionalProperties: { type: 'object', required: ['a'] }, default: { x: {} } }),
    field({ type: 'object', additionalProperties: { type: 'integer', minimum: 2 }, default: { x: 1, y: 2 } }),
    field({
      type: 'object',
      properties: { map: { type: 'object', additionalProperties: { type: 'string' } } },
      default: { map: { x: 1 } },
    }),
    field({ type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } }, default: [{ x: 1 }] }),
    field({ type: 'array', items: strings, default: [['a'], ['b', 3]] }),
    field({ type: 'array', items: { ...strings, default: ['a', 3] } }),
    field({ type: 'array', items: { type: 'object', properties: { list: { ...strings, default: [4] } } } }),
    field({
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' } } },
      default: [{ name: 'a' }, { name: 'b', other: true }],
    }),
    field({ type: 'array', items: { type: 'string', nullable: true }, default: ['a', null] }),
    field({ type: 'array', items: { type: 'string', format: 'ipv4' }, default: ['10.0.0.1', 'x'] }),
    field({ type: 'array', items: { type: 'string', pattern: '^a' }, maxItems: 1, default: ['a', 'b'] }),
    field({
      type: 'array',
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] },
      maxItems: 3,
      default: [6, 5],
    }),
  ],
}

const named = (metadata: object, query = '?dryRun=All'): Step =>
  post(`${definitionsPath}${query}`, { ...definition(group, [version(objectSchema({}))]), metadata })
const generateName = (schema: Schema): Schema => ({
  metadata: { type: 'object', properties: { generateName: schema } },
})
const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true }

const names: Scenario = {
  name: 'names that the server generates',
  definitions: [],
  steps: [
    named({}),
    named({ generateName: 'widgets' }),
    named({ generateName: `widgets.${group}` }),
    named({ generateName: `widgets.${group}`, name: `widgets.${group}` }),
    named({ generateName: 'Not Valid' }),
    named({ generateName: 'Not Valid', name: `widgets.${group}` }),
    named({ generateName: 'a'.repeat(300), name: `widgets.${group}` }),
    fields(generateName({ type: 'string', maxLength: 5 })),
    fields(generateName({ type: 'string', pattern: '^a', enum: ['a-'] })),
    fields(generateName({ type: 'string', default: 'a-' })),
    fields(generateName({ type: 'integer' })),
    fields(generateName({ type: 'string', 'x-kubernetes-validations': [{ rule: "self.startsWith('a')" }] })),
    root(objectSchema({}, { 'x-kubernetes-validations': [{ rule: "self.metadata.generateName.startsWith('a')" }] })),
    root(objectSchema({}, { 'x-kubernetes-validations': [{ rule: "self.metadata.labels['a'] == 'b'" }] })),
    field({ ...embedded, 'x-kubernetes-preserve-unknown-fields': true, properties: generateName({ type: 'string' }) }),
    field({
      ...embedded,
      'x-kubernetes-preserve-unknown-fields': true,
      properties: generateName({ type: 'string', maxLength: 5 }),
    }),
  ],
}

const preserved = (schema: Schema, spec: object = {}): Step =>
  tryDefinition({
    ...definition(group, [version(schema)]),
    spec: { ...definition(group, [version(schema)]).spec, preserveUnknownFields: true, ...spec },
  })
const withDefault = objectSchema({ a: { type: 'string', default: 'x' } })
const open = { 'x-kubernetes-preserve-unknown-fields': true }

const preserving: Scenario = {
  name: 'preserved fields and defaults',
  definitions: [],
  steps: [
    preserved(objectSchema({})),
    preserved(withDefault),
    preserved(objectSchema({ a: { type: 'string', default: 1 } })),
    preserved(objectSchema({ a: { type: 'array', items: withDefault } })),
    preserved(objectSchema({ a: { type: 'object', additionalProperties: withDefault } })),
    preserved(objectSchema({ a: { type: 'string', default: 'x' } }), { scope: 'Nowhere', group: 'Not Valid' }),
    preserved(objectSchema({ a: { ...embedded, ...open }, b: { type: 'string', default: 'x' } })),
    preserved(objectSchema({ a: { 'x-kubernetes-int-or-string': true, default: 1 } })),
    preserved(objectSchema({ a: { type: 'object', ...open, default: {} } })),
    preserved(objectSchema({ a: {} })),
    preserved(objectSchema({ a: { type: 'string', default: 'x' } }), {
      versions: [
        version(withDefault),
        version(objectSchema({ b: { type: 'integer', default: 1 } }), { name: 'v2', storage: false }),
      ],
    }),
    preserved(withDefault, { conversion: { strategy: 'None' } }),
    field({ type: 'object', ...open, default: { a: { b: [1, 'x', null] } } }),
    field({ type: 'object', ...open, properties: { a: { type: 'string' } }, default: { a: 1, b: 2 } }),
    field({ type: 'object', ...open, properties: { a: { type: 'string', default: 'x' } }, default: {} }),
    field({ ...open, default: { a: 1 } }),
    field({ ...open, default: [1] }),
    field({ ...open, default: null }),
    field({ type: 'object', properties: { a: { type: 'object', ...open } }, default: { a: { x: 1 }, b: { x: 1 } } }),
    root(objectSchema({ a: { type: 'string', default: 'x' } }, open)),
    field({ 'x-kubernetes-int-or-string': true, default: 1 }),
    field({ 'x-kubernetes-int-or-string': true, default: 'a' }),
    field({ 'x-kubernetes-int-or-string': true, default: 1.5 }),
    field({ 'x-kubernetes-int-or-string': true, default: true }),
    field({ 'x-kubernetes-int-or-string': true, default: {} }),
    field({ 'x-kubernetes-int-or-string': true, default: null }),
    field({ type: 'object', properties: { a: { 'x-kubernetes-int-or-string': true } }, default: { a: true } }),
    field({ type: 'array', items: { 'x-kubernetes-int-or-string': true }, default: [1, 'a', 1.5, {}] }),
    field({ type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true }, default: { a: [] } }),
    field({
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      default: true,
    }),
    field({ 'x-kubernetes-int-or-string': true, enum: [1, 'a'], default: 2 }),
    field({ 'x-kubernetes-int-or-string': true, maxLength: 1, default: 'ab' }),
    field({ 'x-kubernetes-int-or-string': true, pattern: '^a', default: 1 }),
  ],
}

const resource = { ...embedded, ...open }
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }

const embedding: Scenario = {
  name: 'defaults of embedded resources',
  definitions: [],
  steps: [
    field({ ...resource, default: pod }),
    field({ ...resource, default: {} }),
    field({ ...resource, default: { apiVersion: 'v1' } }),
    field({ ...resource, default: { kind: 'Pod' } }),
    field({ ...resource, default: { apiVersion: 'v1', kind: 'Pod' } }),
    field({ ...resource, default: { apiVersion: '', kind: '' } }),
    field({ ...resource, default: { apiVersion: 1, kind: 'Pod' } }),
    field({ ...resource, default: { apiVersion: 'a/b/c', kind: 'Pod', metadata: { name: 'a' } } }),
    field({ ...resource, default: { apiVersion: 'v1', kind: 'not a kind', metadata: { name: 'a' } } }),
    field({ ...resource, default: { ...pod, metadata: 'x' } }),
    field({ ...resource, default: { ...pod, metadata: null } }),
    field({ ...resource, default: { ...pod, metadata: {} } }),
    field({ ...resource, default: { ...pod, metadata: { name: 1 } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'Not Valid' } } }),
    field({ ...resource, default: { ...pod, metadata: { generateName: 'a-' } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', namespace: 'Not Valid' } } }),
    field({
      ...resource,
      default: { ...pod, metadata: { name: 'a', labels: { x: 'y z' }, annotations: { 'a b': '' } } },
    }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', labels: { x: 1 } } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', finalizers: ['not a finalizer'] } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', unknown: 1 } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', creationTimestamp: 'x' } } }),
    field({ ...resource, default: { ...pod, metadata: { name: 'a', ownerReferences: [{ name: 'a' }] } } }),
    field({ ...embedded, properties: { spec: { type: 'object' } }, default: { ...pod, spec: { x: 1 }, other: 1 } }),
    field({ ...embedded, properties: { spec: { type: 'string' } }, default: { ...pod, spec: 1 } }),
    field({ type: 'object', properties: { inner: resource }, default: { inner: { metadata: { name: 'Not Valid' } } } }),
    field({ type: 'array', items: resource, default: [pod, {}, { ...pod, metadata: { name: 'Not Valid' } }] }),
    field({ type: 'object', additionalProperties: resource, default: { x: { apiVersion: 'v1' } } }),
    field({ ...embedded, properties: { inner: resource }, default: { ...pod, inner: { kind: 'X' } } }),
    field({ ...resource, nullable: true, default: null }),
    field({ ...resource, default: 'x' }),
    field({
      ...resource,
      properties: { apiVersion: { type: 'string', default: 'v1' }, kind: { type: 'string', default: 'Pod' } },
      default: { metadata: { name: 'a' } },
    }),
    field({ ...resource, properties: { metadata: { type: 'object', default: { name: 'Not Valid' } } } }),
    field({ ...resource, properties: { metadata: { type: 'object', default: { unknown: 1 } } } }),
    field({ ...resource, properties: { metadata: { type: 'object', default: { name: 1 } } } }),
    field({
      ...resource,
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 1 } } } },
    }),
    field({
      ...resource,
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a' } } } },
    }),
  ],
}

const draft = 'http://json-schema.org/draft-04/schema#'
const dialects: Scenario = {
  name: 'names of schemas',
  definitions: [],
  steps: [
    root({ type: 'object', $schema: draft }),
    root({ type: 'object', $schema: '' }),
    root({ type: 'object', $schema: 'nonsense' }),
    root({ type: 'object', $schema: 1 }),
    field({ type: 'string', $schema: 'https://json-schema.org/draft/2020-12/schema' }),
    field({ type: 'string', $schema: draft, $ref: '#/a', id: 'a' }),
    field({ type: 'array', items: { type: 'string', $schema: draft } }),
    field({ type: 'object', additionalProperties: { type: 'string', $schema: draft } }),
    field({ type: 'string', anyOf: [{ $schema: draft }] }),
    field({ type: 'string', not: { $schema: draft, $ref: '#/a', id: 'a' } }),
    field({ type: 'string', not: { $schema: draft } }),
    fields({ a: { type: 'string', $schema: draft }, b: { type: 'integer', default: 'x' } }),
    fields({
      a: { type: 'string', $schema: draft },
      b: { type: 'string', 'x-kubernetes-validations': [{ rule: '1' }] },
    }),
    tryDefinition(
      definition(group, [
        version({ type: 'object', $schema: draft }),
        version(objectSchema({ a: { type: 'string', $schema: draft } }), { name: 'v2', storage: false }),
      ]),
    ),
    root({ type: 'object', id: 'a' }),
    root({ type: 'object', $ref: '#/a' }),
  ],
}

const rule = (count: number) => Array.from({ length: count }, () => ({ rule: 'self.all(x, self.all(y, x == y))' }))
/** A list whose rules cost much, but not more than one rule may. */
const costly = (count: number, maxItems: number) => ({
  type: 'array',
  maxItems,
  items: { type: 'integer' },
  'x-kubernetes-validations': rule(count),
})

const budgets: Scenario = {
  name: 'the cost of all expressions of a definition',
  definitions: [],
  steps: [
    field(costly(1, 500)),
    field(costly(10, 500)),
    field(costly(20, 800)),
    field(costly(60, 800)),
    field(costly(1, 4000)),
    field(costly(3, 4000)),
    field({ type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': rule(2) }),
    fields({ a: costly(1, 4000), b: costly(60, 800) }),
    tryDefinition(
      definition(group, [
        version(objectSchema({ a: costly(60, 800) })),
        version(objectSchema({ a: costly(60, 800) }), { name: 'v2', storage: false }),
      ]),
    ),
    tryDefinition(
      definition(group, [
        version(objectSchema({ a: costly(20, 800) })),
        version(objectSchema({ a: costly(20, 800) }), { name: 'v2', storage: false }),
        version(objectSchema({ a: costly(20, 800) }), { name: 'v3', storage: false }),
      ]),
    ),
    fields({ a: costly(60, 800), b: { type: 'string', default: 1 } }),
  ],
}

export const definitionDetails: readonly Scenario[] = [lists, names, preserving, embedding, dialects, budgets]
