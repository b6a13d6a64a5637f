// Tables for decoding, defaults, validation and OpenAPI, each derived from the field language.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { decode, DecodeError } from './decoding/decode.ts'
import { withDefaults } from './decoding/defaults.ts'
import { message, string, struct } from './descriptor/field.ts'
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
import { deepCopy, equalValues, isJsonObject, jsonKind, without } from './json/json-value.ts'
import { openApi2, openApi3, OpenApiSchemas, type OpenApiSchema } from './openapi/openapi.ts'
import { validateFields } from './validation/validate.ts'
import { jsonText } from './json/exact-json.ts'
import { box, type part } from './schema.harness.ts'

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
