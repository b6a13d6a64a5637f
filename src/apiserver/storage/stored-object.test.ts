// A version is encoded once: the same bytes are used everywhere, with the resourceVersion inserted.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { encodeList, encodeObject } from '../http/encode-json.ts'
import { Arena } from './arena.ts'
import { storedBytes } from './stored-json.ts'
import { StoredObject } from './stored-object.ts'

const object = (metadata: object = { name: 'é"{', labels: { resourceVersion: '"metadata":{' } }) =>
  ({ data: { a: '{}' }, metadata, apiVersion: 'v1', kind: 'ConfigMap' }) as unknown as ApiObject
const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))
const options = { form: { syntax: 'json', shape: 'object' }, include: 'None', nowMs: 0 } as const
const rawBytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const written = (value: ApiObject, revision: number): StoredObject => StoredObject.pending(value).committedAt(revision)

const versions: [why: string, stored: StoredObject, revision: string | undefined][] = [
  ['a version that was written here', written(object(), 7), '7'],
  [
    'a version that was written with another resourceVersion',
    written(object({ name: 'a', resourceVersion: '3' }), 7),
    '7',
  ],
  ['a version with empty metadata', written(object({}), 7), '7'],
  ['a dry run of a create', StoredObject.ofObject(object(), 0), undefined],
  ['a version that was read', StoredObject.ofBytes(storedBytes(object()), 7), '7'],
  ['a version with empty metadata that was read', StoredObject.ofBytes(storedBytes(object({})), 7), '7'],
  ['bytes in which metadata is not the first field', StoredObject.ofBytes(rawBytes(object()), 7), '7'],
]
for (const [why, stored, revision] of versions)
  test(`the JSON of ${why} is its object`, () => {
    equal(stored.object.metadata.resourceVersion, revision)
    deepEqual(parse(stored.json), stored.object)
    const { kind: _, apiVersion: __, ...rest } = stored.object
    const list = { kind: 'list', objectKind: configMap, revision: 9, continueToken: '', remaining: undefined } as const
    for (const count of [0, 1, 3])
      deepEqual(parse(encodeList({ ...list, items: Array.from({ length: count }, () => stored) }, options)), {
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: Array.from({ length: count }, () => rest),
      })
  })

test('kind and apiVersion come first, then the metadata with the version', () => {
  const expected =
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"},"data":{"a":"{}"}}'
  for (const stored of [written(object({ name: 'a' }), 7), StoredObject.ofBytes(storedBytes(object({ name: 'a' })), 7)])
    equal(new TextDecoder().decode(stored.json), expected)
})

test('the writer and the watchers of a version share one object and one encoding', () => {
  const pending = StoredObject.pending(object())
  const stored = pending.committedAt(5)
  const item = { key: '', lazyValue: pending, value: new Uint8Array(), createRevision: 5, modRevision: 5, version: 1 }
  equal(StoredObject.ofItem(item), stored)
  equal(stored.revision, 5)
  const later = StoredObject.ofItem({ ...item, modRevision: 6 })
  notEqual(later, stored)
  equal(later.object.metadata.resourceVersion, '6')
  equal(stored.object.metadata.resourceVersion, '5')
  equal(encodeObject(stored.object, configMap, stored, options), stored.json)
})

test('an aged version drops its encodings, and caches them again when they are requested twice', () => {
  const stored = written(object(), 5)
  const { json, bytes, object: shown } = stored
  const protobuf = stored.protobuf(configMap.message)
  equal(stored.json, json)
  equal(stored.protobuf(configMap.message), protobuf)
  stored.age()
  notEqual(stored.json, json)
  deepEqual(stored.json, json)
  equal(stored.json, stored.json)
  deepEqual(stored.bytes, bytes)
  deepEqual(stored.protobuf(configMap.message), protobuf)
  equal(stored.object, shown)
})

test('the bytes for the store are the same before and after the commit', () => {
  const pending = StoredObject.pending(object({ name: 'a', resourceVersion: '3' }))
  const { text, bytes } = pending
  const stored = pending.committedAt(5)
  equal(stored.text, text)
  deepEqual(stored.bytes, bytes)
  deepEqual(stored.json, stored.json)
  equal(stored.text, text)
  stored.age()
  equal(stored.text, text)
  equal(stored.atRevision(6).object.metadata.resourceVersion, '6')
  deepEqual(stored.atRevision(6).bytes, bytes)
})

test('an offloaded version is encoded; its object is cached while it is read repeatedly', () => {
  const arena = new Arena()
  const readOthers = () => {
    for (let revision = 1; revision < 200; revision++) {
      const other = written(object(), revision)
      other.offload(arena)
      equal(other.object.metadata.resourceVersion, String(revision))
    }
  }
  for (const stored of [written(object(), 5), StoredObject.ofBytes(storedBytes(object()), 5)]) {
    const { object: shown, json, bytes, text } = stored
    for (const times of [1, 2]) {
      stored.offload(arena)
      const read = stored.object
      deepEqual(read, shown, `offloaded ${times} times`)
      equal(stored.object, read)
      readOthers()
      notEqual(stored.object, read)
      deepEqual(Uint8Array.from(stored.json), Uint8Array.from(json))
      deepEqual(Uint8Array.from(stored.bytes), Uint8Array.from(bytes))
      equal(stored.text, text)
    }
    equal(stored.committedAt(5), stored)
    equal(stored.atRevision(6).object.metadata.resourceVersion, '6')
  }
})
