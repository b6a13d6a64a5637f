// Protobuf of every kind: upstream's bytes, identity of random instances, invalid input.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import { seededRandom } from '../base/random/random.ts'
import { decode } from './decoding/decode.ts'
import { withDefaults } from './decoding/defaults.ts'
import { bytes, message, string, struct, type Message } from './descriptor/field.ts'
import { isJsonObject } from './json/json-value.ts'
import { decodeProtobuf, decodeEnvelope, ProtobufError } from './protobuf/protobuf-decode.ts'
import { encodeEnvelope, encodeProtobuf, encodeWatchFrame } from './protobuf/protobuf-encode.ts'
import { randomInstance, zeroInstance } from './descriptor/random-instance.harness.ts'
import { box, part } from './schema.harness.ts'

const goldenFolder = new URL('../../test/facts/golden/', import.meta.url)
for (const file of readdirSync(goldenFolder).filter((name) => name.endsWith('.json')))
  test(`protobuf: upstream's ${file.slice(0, -5)} decodes to its JSON and encodes back byte for byte`, () => {
    const body = JSON.parse(readFileSync(new URL(file, goldenFolder), 'utf8')) as { kind: string; apiVersion: string }
    const golden = new Uint8Array(readFileSync(new URL(file.replace(/json$/, 'pb'), goldenFolder)))
    const kind = kinds.find((candidate) => candidate.kind === body.kind && candidate.apiVersion === body.apiVersion)
    ok(kind !== undefined)
    const { apiVersion, kind: decodedKind, raw } = decodeEnvelope(golden)
    deepEqual([apiVersion, decodedKind], [kind.apiVersion, kind.kind])
    const fromJson = decode(kind.message, body)
    deepEqual(fromJson.unknownFields, [])
    deepEqual(decode(kind.message, { ...decodeProtobuf(kind.message, raw), apiVersion, kind: decodedKind }), fromJson)
    deepEqual(encodeEnvelope(apiVersion, decodedKind, encodeProtobuf(kind.message, fromJson.value)), golden)
  })

const withoutEmpty = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [name, withoutEmpty(item)] as const)
  return Object.fromEntries(
    entries.filter(
      ([, item]) =>
        item !== undefined &&
        !(Array.isArray(item) ? item.length === 0 : isJsonObject(item) && Object.keys(item).length === 0),
    ),
  )
}

test('JSON → object → protobuf → object is the identity for random instances of every kind', () => {
  const random = seededRandom(5)
  for (const kind of kinds)
    for (let round = 0; round < 40; round++) sameThroughProtobuf(kind.message, randomInstance(kind.message, random))
})

test('the identity also holds for empty instances and for zeros of every kind', () => {
  for (const { message: type } of kinds)
    for (const sent of [{}, zeroInstance(type, 0), zeroInstance(type, 1)]) sameThroughProtobuf(type, sent)
})

function sameThroughProtobuf(type: Message, sent: unknown): void {
  const { value } = decode(type, sent)
  const again = decode(type, decodeProtobuf(type, encodeProtobuf(type, value))).value
  // Structs by value are written even when nothing was sent, and protobuf has no empty lists and maps: before the comparison
  // the former are filled in and the latter removed.
  const comparable = (object: object) => withoutEmpty(withDefaults(type, object))
  deepEqual(comparable(again), comparable(value), type.name)
}

test('a watch frame: its length, its type, and an object in an envelope', () => {
  const frame = encodeWatchFrame('ADDED', encodeEnvelope('v1', 'Part', encodeProtobuf(part, { name: 'a' })))
  equal(new DataView(frame.buffer).getUint32(0), frame.length - 4)
  const event = message('test.WatchEvent', {
    type: string(1),
    object: struct(2, message('test.Raw', { raw: bytes(1) })),
  })
  const { type, object } = decodeProtobuf(event, frame.subarray(4)) as { type: string; object: { raw: string } }
  const { kind, raw } = decodeEnvelope(Uint8Array.fromBase64(object.raw))
  deepEqual([type, kind, decodeProtobuf(part, raw)], ['ADDED', 'Part', { name: 'a', size: 0, color: '' }])
})

test('invalid protobuf is rejected, unknown fields are skipped', () => {
  const raw = (...values: number[]) => Uint8Array.from(values)
  deepEqual(decodeProtobuf(part, raw(0x0a, 1, 0x61, 0x98, 0x06, 5, 0xa1, 0x06, 0, 0, 0, 0, 0, 0, 0, 0)), {
    name: 'a',
  })
  throws(() => decodeProtobuf(part, raw(0x0a, 200, 1)), ProtobufError)
  throws(() => decodeProtobuf(part, raw(0x0a)), ProtobufError)
  throws(() => decodeProtobuf(part, raw(0x0f, 1)), /wire type 7/)
  throws(() => decodeProtobuf(part, raw(0x08, 1)), /a number stands where bytes belong/)
  throws(() => decodeProtobuf(part, Uint8Array.of(0x0a, 1, 0xff)), /not valid/)
  throws(() => decodeEnvelope(raw(1, 2, 3, 4)), /protobuf prefix/)
  throws(() => decodeProtobuf(box, raw(0x30, ...Array.from({ length: 10 }, () => 0xff), 1)), /longer than ten bytes/)
  const entries = decodeProtobuf(box, raw(0x52, 4, 0x0a, 2, 0x5f, 0x5f)) as { labels: object }
  deepEqual(entries.labels, { __: '' })
})
