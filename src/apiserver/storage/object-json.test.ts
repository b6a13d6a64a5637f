// The JSON of an object equals that of JSON.stringify, also with inserted parts.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { markInterned } from '../../base/collections/interned-values.ts'
import { objectJson, withResourceVersion } from './object-json.ts'

const set = { 'f:spec': { 'f:containers': { 'k:{"name":"a\\"b"}': { '.': {} } } } }
const entry = { manager: 'm"', operation: 'Update', fieldsV1: set }

const cases: [why: string, parts: object][] = [
  ['a plain object', { metadata: { name: 'a', labels: { b: '"' } }, data: { c: 'é' } }],
  ['empty metadata', { metadata: {} }],
  ['managed fields', { metadata: { name: 'a', managedFields: [{ ...entry, fieldsV1: { 'f:data': {} } }] } }],
  [
    'managed fields of list items',
    { metadata: { name: 'a', managedFields: [entry, { ...entry, subresource: 'status' }] } },
  ],
  ['owners alone', { metadata: { managedFields: [{ fieldsV1: set }, {}, { manager: 'n' }] }, spec: { a: 1 } }],
  [
    'managed fields, and values of every type',
    { metadata: { managedFields: [entry] }, a: 'x', b: null, c: [1], d: undefined, e: 0 },
  ],
  ['a shared spec', { metadata: { managedFields: [entry] }, spec: markInterned({ a: [{ b: '"' }] }), status: {} }],
]
for (const [why, parts] of cases)
  test(`the JSON of ${why}`, () => {
    const object = { kind: 'Pod', apiVersion: 'v1', ...parts } as unknown as ApiObject
    const plain = JSON.parse(JSON.stringify(object)) as ApiObject
    for (let times = 0; times < 2; times++) {
      deepEqual(JSON.parse(objectJson(object)), plain)
      const versioned = JSON.parse(withResourceVersion(objectJson(object), '7')) as ApiObject
      deepEqual(versioned, { ...plain, metadata: { ...plain.metadata, resourceVersion: '7' } })
      deepEqual(Object.keys(versioned), Object.keys(plain))
      equal(Object.keys(versioned.metadata)[0], 'resourceVersion')
    }
  })
