// A version is encoded once: the same bytes wherever it is shown, with its resourceVersion in its place.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { WatchEvent } from '../request/response.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { encodeList, encodeObject as encodeAnswer } from '../http/encode-json.ts'
import { PendingObject, encodeObject, StoredObject } from './stored-object.ts'
import { storeInArena } from './arena.ts'
import { WatchFrameCache } from '../http/watch-frames.ts'

const object = (metadata: object = { name: 'é"{', labels: { resourceVersion: '"metadata":{' } }) =>
  ({ data: { a: '{}' }, metadata, apiVersion: 'v1', kind: 'ConfigMap' }) as unknown as ApiObject
const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))
const options = { form: { syntax: 'json', shape: 'object' }, include: 'None', nowMs: 0 } as const
const rawBytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

const versions: [why: string, stored: StoredObject, revision: string | undefined][] = [
  ['a version', StoredObject.of(encodeObject(object()), 7), '7'],
  [
    'a version that was encoded with another one in it',
    StoredObject.of(encodeObject(object({ name: 'a', resourceVersion: '3' })), 7),
    '7',
  ],
  ['a version with nothing in its metadata', StoredObject.of(encodeObject(object({})), 7), '7'],
  ['a preview', new StoredObject(encodeObject(object()), 0), undefined],
  ['bytes whose metadata do not come first', StoredObject.of(rawBytes(object()), 7), '7'],
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
  const text = new TextDecoder().decode(StoredObject.of(encodeObject(object({ name: 'a' })), 7).json)
  equal(text, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"},"data":{"a":"{}"}}')
})

test('one version has one encoding, for its writer and for all watchers', () => {
  const bytes = encodeObject(object())
  const stored = StoredObject.of(bytes, 5)
  equal(StoredObject.of(bytes, 5), stored)
  notEqual(StoredObject.of(bytes, 6), stored)
  equal(encodeAnswer(stored.object, configMap, stored, options), stored.json)
})

test('a version at rest keeps its encoding no longer, and still has it', () => {
  const draft = new PendingObject(object())
  const stored = StoredObject.of(draft, 5)
  const [json, bytes] = [stored.json, stored.bytes]
  equal(stored.json, json)
  stored.rest()
  for (const [before, now] of [
    [json, () => stored.json],
    [bytes, () => stored.bytes],
    [bytes, () => draft.bytes],
  ] as const) {
    notEqual(now(), now())
    deepEqual(now(), before)
  }
  equal(stored.json, stored.json) // who asks twice asks again
})

test('what was put is the same before and after its version has an object, which is all that is kept', () => {
  const draft = new PendingObject(object())
  const [plain, text] = [draft.object, draft.text]
  const stored = StoredObject.of(draft, 5)
  const shown = stored.object
  deepEqual(draft.object, plain)
  stored.rest()
  equal(draft.text, text)
  equal(stored.object, shown)
  equal(stored.at(6).object.metadata.resourceVersion, '6')
  equal(new StoredObject(draft, 0).object.metadata.resourceVersion, undefined)
})

test('a version that is put away is bytes, from which all else is made anew for those who ask in a row', () => {
  const readOthers = () => {
    for (let revision = 1; revision < 200; revision++) {
      const other = StoredObject.of(new PendingObject(object()), revision)
      other.putAway()
      equal(other.object.metadata.resourceVersion, String(revision))
    }
  }
  for (const source of [new PendingObject(object()), encodeObject(object())]) {
    const stored = StoredObject.of(source, 5)
    const [shown, json, bytes] = [stored.object, stored.json, stored.bytes]
    for (const times of [1, 2]) {
      stored.putAway()
      const read = stored.object
      deepEqual(read, shown, `put away ${times} times`)
      equal(stored.object, read)
      readOthers()
      notEqual(stored.object, read)
      deepEqual(Uint8Array.from(stored.json), Uint8Array.from(json))
      deepEqual(Uint8Array.from(stored.bytes), Uint8Array.from(bytes))
    }
    equal(StoredObject.of(source, 5), stored)
    equal(stored.at(6).object.metadata.resourceVersion, '6')
  }
})

test('what is put away shares buffers, unless it is long', () => {
  const [one, other, long] = ['ä', 'b', 'ü'.repeat(1 << 16)].map(storeInArena)
  deepEqual(
    [one, other].map((bytes) => new TextDecoder().decode(bytes)),
    ['ä', 'b'],
  )
  equal(one?.buffer, other?.buffer)
  equal(long?.buffer.byteLength, 1 << 17)
  const many = Array.from({ length: 200 }, (_, index) => storeInArena(`${index} ${'x'.repeat(20_000)}`))
  deepEqual(
    many.map((bytes) => parseInt(new TextDecoder().decode(bytes))),
    many.map((_, index) => index),
  )
  equal(new Set(many.map(({ buffer }) => buffer)).size < 10, true)
})

test('watchers who are told the same get the same bytes', () => {
  const frames = new WatchFrameCache()
  const told = (revision: number, type: 'ADDED' | 'DELETED' = 'ADDED'): WatchEvent => ({
    type,
    stored: versions[revision] ?? first,
    cause: { ...noCause },
  })
  const first = new StoredObject(encodeObject(object()), 1)
  const versions = [first, first, new StoredObject(encodeObject(object()), 2)]
  let made = 0
  const bytesOf = (...events: WatchEvent[]) => frames.encoded(events, () => Uint8Array.of(++made))
  deepEqual(bytesOf(told(1), told(2)), Uint8Array.of(1, 2))
  equal(bytesOf(told(1), told(2)), bytesOf(told(1), told(2)))
  notEqual(bytesOf(told(1, 'DELETED'), told(2)), bytesOf(told(1), told(2)))
  notEqual(bytesOf(told(1)), bytesOf(told(1), told(2)))
  const bookmark: WatchEvent = { type: 'BOOKMARK', revision: 1, initialEventsEnd: false }
  notEqual(bytesOf(bookmark), bytesOf(bookmark))
  const long = () => frames.encoded([told(1)], () => new Uint8Array(300 << 10))
  bytesOf(bookmark)
  notEqual(long(), long())
})
