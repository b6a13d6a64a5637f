// Tables for each function that is derived from the field language, on a small type with one field of each sort.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import { seededRandom } from '../base/random/random.ts'
import { decode, DecodeError } from './decoding/decode.ts'
import { withDefaults } from './decoding/defaults.ts'
import {
  bool,
  bytes,
  int32,
  int64,
  intOrString,
  rawExtension,
  list,
  map,
  message,
  quantity,
  string,
  struct,
  time,
  type Message,
} from './descriptor/field.ts'
import {
  duplicate,
  fieldErrorText,
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
} from './validation/field-error.ts'
import type { Infer, InferInput } from './descriptor/infer.ts'
import { jsonPatch, JsonPatchError, type JsonPatchOperation } from './patch/json-patch.ts'
import {
  deepCopy,
  equalValues,
  isJsonObject,
  jsonKind,
  without,
  type JsonObject,
  type JsonValue,
} from './json/json-value.ts'
import { mergePatch } from './patch/merge-patch.ts'
import { openApi2, openApi3, OpenApiSchemas, type OpenApiSchema } from './openapi/openapi.ts'
import { decodeProtobuf, decodeEnvelope, ProtobufError } from './protobuf/protobuf-decode.ts'
import { encodeEnvelope, encodeProtobuf, encodeWatchFrame } from './protobuf/protobuf-encode.ts'
import { randomInstance, zeroInstance } from './descriptor/random-instance.harness.ts'
import { strategicMerge, StrategicMergeError } from './patch/strategic-merge.ts'
import { validateFields } from './validation/validate.ts'
import { jsonText } from './json/exact-json.ts'

const part = message('test.v1.Part', {
  name: string(1, { required: true, notEmpty: true }),
  size: int32(2, { default: 5, minimum: 1, maximum: 9 }),
  color: string(3, { enum: ['blue', 'red'] }),
})
const box = message('test.v1.Box', {
  name: string(1),
  open: bool(2),
  sealed: bool(3, { pointer: true }),
  count: int32(4),
  limit: int32(5, { pointer: true }),
  weight: int64(6, { keepEmpty: true }),
  tags: list(7, 'string', { listType: 'set', patch: 'merge' }),
  parts: list(8, part, { listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
  plain: list(9, part),
  labels: map(10, 'string'),
  inner: struct(11, part),
  maybe: struct(12, part, { pointer: true }),
  policy: string(13, { default: 'Always' }),
  amount: quantity(14),
  surge: intOrString(15),
  at: time(16),
  data: bytes(17),
  extra: rawExtension(18),
  typed: list(19, part, { hasTypeMeta: true }),
  names: list(20, 'string', { keepEmpty: true }),
  made: time(21, { omitEmpty: true }),
})

test('the types follow from the descriptors, as the type checker verifies', () => {
  const typed = { name: 'a', size: 5, color: 'red' } satisfies Infer<typeof part>
  const sent = { name: typed.name } satisfies InferInput<typeof part>
  // @ts-expect-error -- a value that is not in the enumeration
  const wrong = { name: sent.name, color: 'green' } satisfies InferInput<typeof part>
  equal(wrong.color, 'green')
})

const decoded: [why: string, from: object, to: object, unknown?: string[]][] = [
  ['empty values without a pointer are omitted', { name: '', open: false, count: 0, tags: [], names: [] }, {}],
  ['an empty map is undefined', { labels: {} }, { labels: undefined }],
  ['zero behind a pointer is retained', { sealed: false, limit: 0, maybe: {} }, { sealed: false, limit: 0, maybe: {} }],
  ['a value without omitempty is retained', { weight: 0 }, { weight: 0 }],
  ['null means absent', { name: null, parts: null, maybe: null }, {}],
  ['kind and apiVersion are accepted at the top', { kind: 'Box', apiVersion: 'v1' }, { kind: 'Box', apiVersion: 'v1' }],
  [
    'unknown fields are reported with their path and dropped',
    { nam: 1, parts: [{ name: 'a', siz: 1 }], inner: { x: 1 } },
    { parts: [{ name: 'a' }], inner: {} },
    ['nam', 'parts[0].siz', 'inner.x'],
  ],
  ['names of Object.prototype are unknown too', { toString: 'x', constructor: 'y' }, {}, ['toString', 'constructor']],
  [
    'kind and apiVersion are accepted in embedded objects',
    { typed: [{ kind: 'Part', apiVersion: 'v1', name: 'a' }], inner: { kind: 'x' } },
    { typed: [{ kind: 'Part', apiVersion: 'v1', name: 'a' }], inner: {} },
    ['inner.kind'],
  ],
  ['bytes may be broken into lines', { data: 'AA\nE=\r\n' }, { data: 'AAE=' }],
  ['the largest integer that is exact as a double', { weight: 2 ** 53 - 1 }, { weight: 2 ** 53 - 1 }],
  ['an integer that is not', { weight: 2n ** 53n + 1n }, { weight: 2n ** 53n + 1n }],
  ['a quantity may be a long integer', { amount: 2n ** 53n + 1n }, { amount: '9007199254740993' }],
  ['a quantity may be a number', { amount: 5 }, { amount: '5' }],
  ['count or percent', { surge: '25%', extra: { any: [1] } }, { surge: '25%', extra: { any: [1] } }],
]
for (const [why, from, to, unknown = []] of decoded)
  test(`decode: ${why}`, () => deepEqual(decode(box, from), { value: to, unknownFields: unknown }))

const mismatches: [body: unknown, message: string][] = [
  [{ name: 5 }, 'json: cannot unmarshal number into Go struct field Box.name of type string'],
  [{ open: 'x' }, 'json: cannot unmarshal string into Go struct field Box.open of type bool'],
  [{ count: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field Box.count of type int32'],
  [{ count: 3e9 }, 'json: cannot unmarshal number 3000000000 into Go struct field Box.count of type int32'],
  [{ parts: {} }, 'json: cannot unmarshal object into Go struct field Box.parts of type []v1.Part'],
  [{ parts: [{ size: 'x' }] }, 'json: cannot unmarshal string into Go struct field Part.parts.size of type int32'],
  [{ labels: [] }, 'json: cannot unmarshal array into Go struct field Box.labels of type map[string]string'],
  [{ labels: { a: 1 } }, 'json: cannot unmarshal number into Go struct field Box.labels of type string'],
  [{ inner: 'x' }, 'json: cannot unmarshal string into Go struct field Box.inner of type v1.Part'],
  ['x', 'json: cannot unmarshal string into Go value of type v1.Box'],
  [{ at: 'soon' }, 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'],
  [{ amount: 'much' }, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
  [
    { weight: 2 ** 63 },
    'json: cannot unmarshal number 9223372036854775808 into Go struct field Box.weight of type int64',
  ],
  [
    { count: 2n ** 53n + 1n },
    'json: cannot unmarshal number 9007199254740993 into Go struct field Box.count of type int32',
  ],
  [
    { surge: 2n ** 53n + 1n },
    'json: cannot unmarshal number 9007199254740993 into Go struct field Box.surge of type int32',
  ],
  [{ name: 2n ** 53n + 1n }, 'json: cannot unmarshal number into Go struct field Box.name of type string'],
  [{ count: 2 ** 31 }, 'json: cannot unmarshal number 2147483648 into Go struct field Box.count of type int32'],
  [{ data: 'AA!=' }, 'illegal base64 data at input byte 2'],
  [{ data: 'AAEAA' }, 'illegal base64 data at input byte 4'],
  [{ surge: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field Box.surge of type int32'],
]
for (const [body, text] of mismatches)
  test(`decode rejects ${jsonText(body)}`, () => throws(() => decode(box, body), new DecodeError(text)))

test('decode limits the depth', () => {
  let type = message('test.v1.Leaf', { name: string(1) }) as ReturnType<typeof message>
  let body: object = {}
  for (let depth = 0; depth < 150; depth++) {
    type = message('test.v1.Nest', { in: struct(1, type, { pointer: true }) })
    body = { in: body }
  }
  throws(() => decode(type, body), /nested more than 100 levels deep/)
})

test('defaults fill values, zeros and structs, and share what needs no change', () => {
  const zeros = { weight: 0, amount: '0', surge: 0, at: null, names: null }
  const complete = { ...zeros, inner: { name: 'i', size: 3 }, policy: 'Never' }
  equal(withDefaults(box, complete), complete)
  const inner = { name: '', size: 5 }
  deepEqual(withDefaults(box, { parts: [{ name: 'a' }], policy: '' }), {
    ...zeros,
    parts: [{ name: 'a', size: 5 }],
    inner,
    policy: 'Always',
  })
  deepEqual(withDefaults(box, { maybe: {} }), { ...zeros, maybe: inner, inner, policy: 'Always' })
})

test('validation reports all violations', () => {
  const errors = validateFields(box, {
    parts: [
      { name: '', size: 0 },
      { name: 'b', size: 10, color: 'green' },
    ],
    inner: { name: 'i' },
  })
  deepEqual(errors.map(fieldErrorText), [
    'parts[0].name: Required value',
    'parts[0].size: Invalid value: 0: must be greater than or equal to 1',
    'parts[1].size: Invalid value: 10: must be less than or equal to 9',
    'parts[1].color: Unsupported value: "green": supported values: "blue", "red"',
  ])
})

test('field errors have upstream’s format', () => {
  deepEqual(
    [
      required('a', 'why'),
      invalid('a', { b: 1 }, 'no'),
      notSupported('a', 'x', ['y']),
      forbidden('a', 'no'),
      duplicate('a', 'x'),
      tooLong('a', 3),
      immutable('a', undefined),
    ].map(fieldErrorText),
    [
      'a: Required value: why',
      'a: Invalid value: {"b":1}: no',
      'a: Unsupported value: "x": supported values: "y"',
      'a: Forbidden: no',
      'a: Duplicate value: "x"',
      'a: Too long: may not be more than 3 bytes',
      'a: Invalid value: null: field is immutable',
    ],
  )
})

test('JSON values: equality, kinds', () => {
  equal(equalValues({ a: [1, { b: undefined }] }, { a: [1, {}] }), true)
  for (const [a, b] of [
    [{ a: 1 }, {}],
    [{}, { a: 1 }],
    [[1], [1, 2]],
    [[], {}],
    [null, {}],
    [1, '1'],
  ] as const)
    equal(equalValues(a, b), false)
  deepEqual([[], null, 1, 'x', true, {}].map(jsonKind), ['array', 'null', 'number', 'string', 'bool', 'object'])
  deepEqual([isJsonObject({}), isJsonObject([]), isJsonObject(null)], [true, false, false])
  deepEqual(without({ a: 1, b: 2 }, 'a'), { b: 2 })
  const value = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"c":1}}') as { a: unknown[] }
  const copy = deepCopy(value) as typeof value
  deepEqual(Object.entries(copy), Object.entries(value))
  ok(copy.a !== value.a && copy.a[1] !== value.a[1])
})

// The examples of RFC 7386.
const merges: [target: JsonValue, patch: JsonValue, result: JsonValue][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [['a'], { a: 'b' }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]
for (const [target, patch, result] of merges)
  test(`merge patch ${JSON.stringify(patch)} on ${JSON.stringify(target)}`, () =>
    deepEqual(mergePatch(target, patch), result))

const patches: [operations: JsonPatchOperation[], result: JsonValue | RegExp][] = [
  [[{ op: 'add', path: '/b', value: 1 }], { a: [1, 2], b: 1 }],
  [[{ op: 'add', path: '/a/1', value: 9 }], { a: [1, 9, 2] }],
  [[{ op: 'add', path: '/a/-', value: 9 }], { a: [1, 2, 9] }],
  [[{ op: 'remove', path: '/a/0' }], { a: [2] }],
  [[{ op: 'replace', path: '/a', value: 'x' }], { a: 'x' }],
  [[{ op: 'replace', path: '/a/1', value: 'x' }], { a: [1, 'x'] }],
  [[{ op: 'move', from: '/a/0', path: '/c' }], { a: [2], c: 1 }],
  [[{ op: 'copy', from: '/a', path: '/c' }], { a: [1, 2], c: [1, 2] }],
  [
    [
      { op: 'add', path: '/x~1y', value: { 'p~q': 1 } },
      { op: 'replace', path: '/x~1y/p~0q', value: 2 },
    ],
    { a: [1, 2], 'x/y': { 'p~q': 2 } },
  ],
  [
    [
      { op: 'test', path: '/a', value: [1, 2] },
      { op: 'remove', path: '/a' },
    ],
    {},
  ],
  [[{ op: 'test', path: '/a', value: 1 }], /testing value \/a failed/],
  [[{ op: 'test', path: '/none', value: null }], { a: [1, 2] }],
  [[{ op: 'remove', path: '/none' }], /nonexistent key: none/],
  [[{ op: 'replace', path: '/none', value: 1 }], { a: [1, 2], none: 1 }],
  [[{ op: 'replace', path: '/none/deeper', value: 1 }], /missing path: "\/none\/deeper"/],
  [[{ op: 'replace', path: '', value: {} }], {}],
  [[{ op: 'add', path: '/a/7', value: 1 }], /invalid index: 7/],
  [[{ op: 'add', path: '/a/-1', value: 9 }], { a: [1, 2, 9] }],
  [[{ op: 'remove', path: '/a/-1' }], { a: [1] }],
  [[{ op: 'remove', path: '/a/-3' }], /invalid index: -3/],
  [[{ op: 'copy', from: '/none/deeper', path: '/b' }], /missing path/],
  [
    [
      { op: 'add', path: '/__proto__', value: { x: 1 } },
      { op: 'test', path: '/x', value: null },
    ],
    JSON.parse('{"a":[1,2],"__proto__":{"x":1}}') as JsonValue,
  ],
  [[{ op: 'explode' as 'add', path: '/a' }], /Unexpected kind: explode/],
]
for (const [operations, result] of patches)
  test(`JSON patch ${JSON.stringify(operations)}`, () => {
    const target = Object.freeze({ a: Object.freeze([1, 2]) }) as JsonValue
    if (result instanceof RegExp) throws(() => jsonPatch(target, operations), result)
    else deepEqual(jsonPatch(target, operations), result)
  })

test('the copies of a JSON patch are bounded', () => {
  const copies = Array.from({ length: 24 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }) as const)
  throws(() => jsonPatch({ a: [1] }, copies), JsonPatchError)
})

const strategic: [why: string, target: JsonObject, patch: JsonObject, result: JsonObject][] = [
  [
    'a list with a key merges by it',
    { parts: [{ name: 'a', size: 1 }, { name: 'b' }] },
    { parts: [{ name: 'b', size: 2 }, { name: 'c' }] },
    { parts: [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c' }] },
  ],
  [
    '$patch: delete removes an element',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { parts: [{ name: 'a', $patch: 'delete' }] },
    { parts: [{ name: 'b' }] },
  ],
  [
    '$patch: replace replaces a list',
    { parts: [{ name: 'a' }] },
    { parts: [{ name: 'z' }, { $patch: 'replace' }] },
    { parts: [{ name: 'z' }] },
  ],
  [
    '$patch: replace replaces a struct',
    { inner: { name: 'a', size: 1 } },
    { inner: { $patch: 'replace', name: 'b' } },
    { inner: { name: 'b' } },
  ],
  [
    'a list without a strategy is replaced',
    { plain: [{ name: 'a' }] },
    { plain: [{ name: 'b' }] },
    { plain: [{ name: 'b' }] },
  ],
  ['a set is merged', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, { tags: ['a', 'b', 'c'] }],
  [
    '$deleteFromPrimitiveList removes from a set',
    { tags: ['a', 'b'] },
    { '$deleteFromPrimitiveList/tags': ['a'] },
    { tags: ['b'] },
  ],
  [
    '$setElementOrder sorts, and other elements stay before their successors',
    { parts: [{ name: 'a' }, { name: 'x' }, { name: 'b' }] },
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'a' }] },
    { parts: [{ name: 'x' }, { name: 'b' }, { name: 'a' }] },
  ],
  [
    '$retainKeys drops the others',
    { inner: { name: 'a', size: 1 } },
    { inner: { $retainKeys: ['name'], name: 'b' } },
    { inner: { name: 'b' } },
  ],
  [
    'new elements are first, deleted ones are removed, others stay',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { parts: [{ name: 'c' }, { name: 'b', $patch: 'delete' }] },
    { parts: [{ name: 'c' }, { name: 'a' }] },
  ],
  [
    'nulls and directives are removed from a new value',
    {},
    {
      inner: { name: 'a', size: null },
      parts: [
        { name: 'a', $patch: 'delete' },
        { name: 'b', size: null },
      ],
    },
    { inner: { name: 'a' }, parts: [{ name: 'b' }] },
  ],
  [
    '$setElementOrder orders new elements among old ones',
    { parts: [{ name: 'a' }, { name: 'b' }] },
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'c' }, { name: 'a' }], parts: [{ name: 'c' }] },
    { parts: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] },
  ],
  [
    '$setElementOrder orders a set',
    { tags: ['a', 'b', 'c'] },
    { '$setElementOrder/tags': ['c', 'a'], '$deleteFromPrimitiveList/tags': ['b'] },
    { tags: ['c', 'a'] },
  ],
  ['$patch: delete empties a map', { labels: { x: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
  [
    '$patch: replace replaces a map',
    { labels: { x: '1' } },
    { labels: { $patch: 'replace', y: '2' } },
    { labels: { y: '2' } },
  ],
  [
    'null removes, and maps are merged',
    { name: 'a', labels: { x: '1', y: '2' } },
    { name: null, labels: { x: null, z: '3' } },
    { labels: { y: '2', z: '3' } },
  ],
]
for (const [why, target, patch, result] of strategic)
  test(`strategic merge: ${why}`, () => deepEqual(strategicMerge(box, target, patch), result))

const rejectedMerges: [why: string, patch: JsonObject, message: RegExp][] = [
  ['an element without its merge key', { parts: [{ size: 1 }] }, /does not contain declared merge key: name/],
  ['an element of another shape', { parts: ['x'] }, /cannot be merged with x/],
  ['an unknown directive', { inner: { $patch: 'explode' } }, /Unknown patch type "explode"/],
  ['an unknown directive in a list', { parts: [{ name: 'a', $patch: 'explode' }] }, /Unknown patch type "explode"/],
  ['a key that is not in $retainKeys', { inner: { $retainKeys: ['name'], size: 1 } }, /format of retainKeys/],
  ['$retainKeys that is not a list', { inner: { $retainKeys: 'name' } }, /format of retainKeys/],
  ['$setElementOrder that is not a list', { '$setElementOrder/parts': 'a' }, /format of setElementOrder/],
  [
    '$setElementOrder that does not match the elements',
    { '$setElementOrder/parts': [{ name: 'b' }, { name: 'a' }], parts: [{ name: 'a' }, { name: 'b' }] },
    /doesn't match \$setElementOrder/,
  ],
  ['$deleteFromPrimitiveList that is not a list', { '$deleteFromPrimitiveList/tags': 'a' }, /format of primitive list/],
]
for (const [why, patch, expected] of rejectedMerges)
  test(`strategic merge rejects ${why}`, () =>
    throws(
      () => strategicMerge(box, { parts: [{ name: 'a' }], inner: { name: 'a' }, tags: ['a'] }, patch),
      (error) => error instanceof StrategicMergeError && expected.test(error.message),
    ))

test('OpenAPI names types, references, list and merge metadata', () => {
  const schemas = new OpenApiSchemas(openApi3)
  schemas.add(box)
  const properties = schemas.get('test.v1.Box')?.['properties'] as Record<string, OpenApiSchema>
  deepEqual(properties['count'], { type: 'integer', format: 'int32' })
  deepEqual(properties['inner'], { allOf: [{ $ref: '#/components/schemas/test.v1.Part' }], default: {} })
  deepEqual(properties['parts'], {
    type: 'array',
    items: { allOf: [{ $ref: '#/components/schemas/test.v1.Part' }], default: {} },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': 'name',
  })
  const partSchema = schemas.get('test.v1.Part') as { required: unknown; properties: Record<string, unknown> }
  deepEqual(partSchema.required, ['name'])
  deepEqual(partSchema.properties['name'], { type: 'string', default: '' })
  const older = new OpenApiSchemas(openApi2)
  older.add(box)
  const olderProperties = older.get('test.v1.Box')?.['properties'] as Record<string, OpenApiSchema>
  deepEqual(olderProperties['inner'], { $ref: '#/definitions/test.v1.Part' })
})

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
