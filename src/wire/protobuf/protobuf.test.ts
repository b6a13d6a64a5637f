// Messages are encoded to the bytes of protobuf's documentation, and decode to the same values.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ProtobufError } from '../../schema/protobuf/protobuf-reader.ts'
import { decodeProto } from './decode-proto.ts'
import { encodeProto } from './encode-proto.ts'
import {
  enumeration,
  mapOf,
  singular,
  optional,
  protoMessage,
  repeated,
  type Proto,
  type ProtoInput,
} from './proto-message.ts'

const inner = protoMessage('Inner', { name: singular(1, 'string'), count: singular(2, 'int64') })
const everything = protoMessage('Everything', {
  number: singular(1, 'int32'),
  text: singular(2, 'string'),
  inner: singular(3, inner),
  raw: singular(4, 'bytes'),
  key: singular(16, 'binary'),
  flag: singular(5, 'bool'),
  ratio: singular(6, 'double'),
  id: singular(7, 'uint64Big'),
  nanos: singular(8, 'int64Big'),
  state: singular(9, enumeration('IDLE', 'BUSY')),
  chosen: optional(10, 'int64'),
  names: repeated(11, 'string'),
  numbers: repeated(12, 'int64'),
  inners: repeated(13, inner),
  labels: mapOf(14, 'string'),
  parts: mapOf(15, inner),
  far: singular(1_000, 'uint32'),
})

const zero: Proto<typeof everything> = {
  number: 0,
  text: '',
  inner: undefined,
  raw: new Uint8Array(),
  key: '',
  flag: false,
  ratio: 0,
  id: 0n,
  nanos: 0n,
  state: 'IDLE',
  chosen: undefined,
  names: [],
  numbers: [],
  inners: [],
  labels: {},
  parts: {},
  far: 0,
}

/** Maps are read without a prototype. */
const plain = (value: Proto<typeof everything>) => ({
  ...value,
  labels: { ...value.labels },
  parts: { ...value.parts },
})

const known: readonly [name: string, value: ProtoInput<typeof everything>, hex: string][] = [
  ['nothing', {}, ''],
  ['150 takes two bytes', { number: 150 }, '089601'],
  ['text', { text: 'testing' }, '120774657374696e67'],
  ['a message in a message', { inner: { count: 150 } }, '1a03109601'],
  ['an empty message is written', { inner: {} }, '1a00'],
  ['negative numbers take ten bytes', { number: -2 }, '08feffffffffffffffff01'],
  ['a zero in a oneof is written', { chosen: 0 }, '5000'],
  ['zeros are omitted', { number: 0, text: '', raw: new Uint8Array(), flag: false, state: 'IDLE', id: 0n }, ''],
  ['the largest id', { id: 2n ** 64n - 1n }, '38ffffffffffffffffff01'],
  ['the name of an enum value', { state: 'BUSY' }, '4801'],
  ['an entry of a map', { labels: { a: 'b' } }, '72060a0161120162'],
  ['a large field number', { far: 1 }, 'c03e01'],
  ['a double', { ratio: 0.5 }, '31000000000000e03f'],
]
for (const [name, value, hex] of known)
  test(`known bytes: ${name}`, () => {
    equal(encodeProto(everything, value).toHex(), hex)
    const read = plain(decodeProto(everything, Uint8Array.fromHex(hex)))
    const filled = value.inner === undefined ? undefined : { name: '', count: 0, ...value.inner }
    deepEqual(read, { ...zero, ...value, inner: filled })
  })

const values: readonly [name: string, value: ProtoInput<typeof everything>][] = [
  ['lists and maps', { names: ['', 'ü'], numbers: [0, -1, 2 ** 53 - 1], labels: { __proto__x: '1', b: '' } }],
  ['nanoseconds', { nanos: -1_700_000_000_123_456_789n }],
  ['long nested messages', { text: 'é'.repeat(1_000), raw: new Uint8Array(70_000).fill(7), number: 1 }],
  [
    'messages in lists and maps',
    {
      inners: [{ name: 'x'.repeat(300), count: 1 }],
      parts: { a: { name: 'n', count: -5 }, b: { name: '', count: 0 } },
    },
  ],
]
for (const [name, value] of values)
  test(`round trip: ${name}`, () =>
    deepEqual(plain(decodeProto(everything, encodeProto(everything, value))), { ...zero, ...value }))

test('bytes in a slice of a larger buffer are read at the right offset', () => {
  const encoded = encodeProto(everything, { ratio: 1.5, raw: Uint8Array.of(1, 2) })
  const larger = new Uint8Array(encoded.length + 7)
  larger.set(encoded, 7)
  const read = decodeProto(everything, larger.subarray(7))
  equal(read.ratio, 1.5)
  deepEqual([...read.raw], [1, 2])
})

test('every byte is a character of a binary text', () => {
  const key = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte)).repeat(40)
  const encoded = encodeProto(everything, { key })
  deepEqual(
    encoded.subarray(-10_240, -9_984),
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
  )
  equal(decodeProto(everything, encoded).key, key)
})

test('unknown fields are skipped, packed numbers are read, the key __proto__ is a key', () => {
  const newer = protoMessage('Newer', {
    a: singular(20, 'string'),
    b: singular(21, 'double'),
    c: singular(22, 'int64'),
    number: singular(1, 'int32'),
  })
  equal(decodeProto(everything, encodeProto(newer, { a: 'x', b: 1, c: -1, number: 7 })).number, 7)
  deepEqual(decodeProto(everything, Uint8Array.fromHex('6203019601')).numbers, [1, 150])
  const labels = decodeProto(everything, encodeProto(everything, { labels: { ['__proto__']: 'x' } })).labels
  deepEqual(Object.keys(labels), ['__proto__'])
  equal(decodeProto(everything, Uint8Array.fromHex('4863')).state, 'IDLE')
})

const broken: readonly [name: string, hex: string, message: RegExp][] = [
  ['a truncated number', '08ff', /truncated/],
  ['a truncated text', '1207', /truncated/],
  ['a truncated message', '1a05', /truncated/],
  ['a field that is longer than its message', '1a030a056162636465', /longer than the message/],
  ['a packed number that is longer than its list', '6202019601', /longer than the message/],
  ['an entry that is longer than its map field', '72030a05616263646566', /longer than the message/],
  ['a number of eleven bytes', '08ffffffffffffffffffff01', /longer than ten bytes/],
  ['an unknown number of eleven bytes', '980effffffffffffffffffff01', /longer than ten bytes/],
  ['a text in place of a number', '0a00', /wire type 2 instead of 0/],
  ['an integer beyond 2^53', '50ffffffffffffff7f', /beyond 2\^53/],
  ['an unsigned integer beyond 2^63', 'c03effffffffffffffffff01', /beyond 2\^53/],
  ['a wire type that does not exist', '0f', /wire type 7/],
]
for (const [name, hex, message] of broken)
  test(`broken: ${name}`, () =>
    throws(
      () => decodeProto(everything, Uint8Array.fromHex(hex)),
      (error: Error) => error instanceof ProtobufError && message.test(error.message),
    ))
