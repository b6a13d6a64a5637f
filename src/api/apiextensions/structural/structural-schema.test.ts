// What a structural schema does to custom objects: pruning, defaulting, validation, and the structure for server-side apply.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { structuralSchema } from './structural-schema.ts'
import { errorsOf } from './structural-schema.harness.ts'

const text: JsonSchemaProps = { type: 'string' }
const preserve = { 'x-kubernetes-preserve-unknown-fields': true }
const embedded: JsonSchemaProps = { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserve }
const meta = { apiVersion: 'example.com/v1', kind: 'Bar', metadata: { name: 'a' } }
const schemaOf = (properties: Readonly<Record<string, JsonSchemaProps>>) =>
  structuralSchema({ type: 'object', properties })

const spec: JsonSchemaProps = {
  type: 'object',
  properties: {
    list: { type: 'array', items: { type: 'object', properties: { x: text } } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { x: text } } },
    kept: { type: 'object', ...preserve, properties: { known: { type: 'object', properties: { x: text } } } },
    loose: { type: 'object', additionalProperties: true },
    resource: embedded,
  },
}

test('undeclared fields are removed, and their paths are those of strict decoding', () => {
  const object = {
    ...meta,
    spec: {
      list: [{ x: '1', y: 2 }, { z: 1 }],
      map: { 'q.r': { y: 1 } },
      kept: { known: { y: 1 }, other: { w: 1 } },
      loose: { a: { b: 1 }, c: 1 },
      resource: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: {}, foo: 1 }, spec: { any: 1 } },
      u: 1,
    },
    y: 1,
  }
  const { value, unknownFields } = schemaOf({ spec }).prune(object)
  deepEqual(value, {
    ...meta,
    spec: {
      list: [{ x: '1' }, {}],
      map: { 'q.r': {} },
      kept: { known: {}, other: { w: 1 } },
      loose: { a: {}, c: 1 },
      resource: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { any: 1 } },
    },
  })
  deepEqual(unknownFields, [
    'spec.kept.known.y',
    'spec.list[0].y',
    'spec.list[1].z',
    'spec.loose.a.b',
    'spec.map.q.r.y',
    'spec.u',
    'y',
    'spec.resource.metadata.foo',
  ])
})

test('without a schema, and with one that preserves everything, nothing is removed', () => {
  const object = { ...meta, spec: { a: [{ b: null }] }, other: 1 }
  for (const schema of [structuralSchema(undefined), structuralSchema(preserve)]) {
    equal(schema.prune(object).value, object)
    equal(schema.withDefaults(object), object)
    deepEqual(errorsOf(schema, object), [])
  }
})

const decodeErrors: [resource: JsonObject, message: string][] = [
  [{ apiVersion: 1, kind: 'x' }, 'spec.resource.apiVersion: Invalid value: 1: must be a string'],
  [{ apiVersion: 'v1', kind: null }, 'spec.resource.kind: Invalid value: null: must be a string'],
  [
    { metadata: 5 },
    'spec.resource.metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta',
  ],
  [
    { metadata: { name: 5 } },
    'spec.resource.metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  ],
]
for (const [resource, message] of decodeErrors)
  test(`an embedded resource that cannot be decoded: ${JSON.stringify(resource)}`, () => {
    throws(() => schemaOf({ spec }).prune({ ...meta, spec: { resource } }), { message })
  })

test('fields of a wrong type in the metadata of a stored embedded resource are removed', () => {
  const metadata = { name: 5, labels: { a: 1, b: 'c' }, annotations: { d: 'e' }, creationTimestamp: 'x' }
  const stored = { ...meta, spec: { resource: { apiVersion: 1, kind: 'Pod', metadata } } }
  const { value } = schemaOf({ spec }).prune(stored, true)
  deepEqual(value['spec'], { resource: { kind: 'Pod', metadata: { annotations: { d: 'e' } } } })
})

const word: JsonSchemaProps = { type: 'string', default: 'd' }
const defaults: [name: string, schema: JsonSchemaProps, value: JsonObject, filled: JsonObject][] = [
  ['an absent field', word, {}, { v: 'd' }],
  ['a null', word, { v: null }, { v: 'd' }],
  ['a null that is allowed', { ...word, nullable: true }, { v: null }, { v: null }],
  ['a null without a default', text, { v: null }, {}],
  ['a value', word, { v: 'x' }, { v: 'x' }],
  [
    'defaults inside of a default',
    { type: 'object', default: { y: '1' }, properties: { x: word, y: text } },
    {},
    { v: { y: '1', x: 'd' } },
  ],
  ['no default inside of an absent object', { type: 'object', properties: { x: word } }, {}, {}],
  ['items', { type: 'array', items: { type: 'object', properties: { x: word } } }, { v: [{}] }, { v: [{ x: 'd' }] }],
  ['a null item with a default', { type: 'array', items: word }, { v: [null] }, { v: ['d'] }],
  ['a null item without one', { type: 'array', items: text }, { v: [null] }, { v: [null] }],
  ['a null in a map', { type: 'object', additionalProperties: text }, { v: { a: null } }, { v: {} }],
  [
    'a null that is not declared',
    { type: 'object', ...preserve, properties: { x: word } },
    { v: { y: null } },
    { v: { y: null, x: 'd' } },
  ],
]
for (const [name, schema, value, filled] of defaults)
  test(`defaulting: ${name}`, () => {
    const structural = schemaOf({ v: schema })
    const once = structural.withDefaults({ ...meta, ...value })
    deepEqual(once, { ...meta, ...filled })
    equal(structural.withDefaults(once), once)
  })

test('errors of schemas come before those of embedded resources and of lists', () => {
  const set: JsonSchemaProps = {
    type: 'array',
    items: { type: 'string', maxLength: 1 },
    'x-kubernetes-list-type': 'set',
  }
  const errors = errorsOf(schemaOf({ set, resource: embedded }), { ...meta, set: ['aa', 'b', 'b', 'b'], resource: {} })
  deepEqual(errors.map(fieldErrorText), [
    'set[0]: Too long: may not be more than 1 byte',
    'resource.apiVersion: Required value',
    'resource.kind: Required value',
    'set[2]: Duplicate value: "b"',
  ])
})
