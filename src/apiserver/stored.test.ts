// A version is encoded once: the same bytes wherever it is shown, with its resourceVersion in its place.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../api/core/v1/config-map.ts'
import type { ApiObject } from '../api/object.ts'
import type { WatchEvent } from './answer.ts'
import { noCause } from '../base/flow.ts'
import { encodeEvent, encodeList, encodeObject as encodeAnswer } from './encode.ts'
import { protobufEvent } from './encode-protobuf.ts'
import { encodeObject, Stored } from './stored.ts'
import { frameOf } from './watch-frames.ts'

const object = (metadata: object = { name: 'é"{', labels: { resourceVersion: '"metadata":{' } }) =>
  ({ data: { a: '{}' }, metadata, apiVersion: 'v1', kind: 'ConfigMap' }) as unknown as ApiObject
const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))
const options = { form: { syntax: 'json', shape: 'object' }, include: 'None', nowMs: 0 } as const
const rawBytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

const versions: [why: string, stored: Stored, revision: string | undefined][] = [
  ['a version', Stored.of(encodeObject(object()), 7), '7'],
  [
    'a version that was encoded with another one in it',
    Stored.of(encodeObject(object({ name: 'a', resourceVersion: '3' })), 7),
    '7',
  ],
  ['a version with nothing in its metadata', Stored.of(encodeObject(object({})), 7), '7'],
  ['a preview', new Stored(encodeObject(object()), 0), undefined],
  ['bytes whose metadata do not come first', Stored.of(rawBytes(object()), 7), '7'],
]
for (const [why, stored, revision] of versions)
  test(`the JSON of ${why} is its object`, () => {
    equal(stored.object.metadata.resourceVersion, revision)
    deepEqual(parse(stored.json), stored.object)
    const { kind: _, apiVersion: __, ...rest } = stored.object
    const list = { kind: 'list', of: configMap, revision: 9, continueToken: '', remaining: undefined } as const
    for (const count of [0, 1, 3])
      deepEqual(parse(encodeList({ ...list, items: Array.from({ length: count }, () => stored) }, options)), {
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: Array.from({ length: count }, () => rest),
      })
  })

test('kind and apiVersion come first, then the metadata with the version', () => {
  const text = new TextDecoder().decode(Stored.of(encodeObject(object({ name: 'a' })), 7).json)
  equal(text, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"},"data":{"a":"{}"}}')
})

test('one version has one encoding, for its writer and for all watchers', () => {
  const bytes = encodeObject(object())
  const stored = Stored.of(bytes, 5)
  equal(Stored.of(bytes, 5), stored)
  notEqual(Stored.of(bytes, 6), stored)
  equal(encodeAnswer(stored.object, configMap, stored, options), stored.json)
  const event: WatchEvent = { type: 'ADDED', stored, cause: noCause }
  for (const encode of [
    (one: WatchEvent) => encodeEvent(one, configMap, options, false),
    (one: WatchEvent) => protobufEvent(one, configMap),
  ]) {
    equal(encode(event), encode(event))
    notEqual(encode({ ...event, type: 'DELETED' }), encode(event))
  }
})

test('a version at rest keeps its encoding no longer, and still has it', () => {
  const stored = Stored.of(encodeObject(object()), 5)
  const before = stored.json
  equal(stored.json, before)
  stored.rest()
  notEqual(stored.json, before)
  notEqual(stored.json, stored.json)
  deepEqual(stored.json, before)
})

test('frames of old versions and large ones are not kept', () => {
  const stored = new Stored(encodeObject(object()), 1)
  const made = (size: number) => frameOf(stored, 'form', () => new Uint8Array(size))
  notEqual(made(100_000), made(100_000))
  equal(made(10), made(10))
  const kept = made(10)
  for (let index = 0; index < 600; index++)
    frameOf(new Stored(new Uint8Array(), index), 'form', () => new Uint8Array(1))
  notEqual(made(10), kept)
})
