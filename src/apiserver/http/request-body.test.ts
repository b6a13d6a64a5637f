// Bodies with repeated or unknown fields: rejected, accepted with a warning, or accepted, depending on fieldValidation.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { bodyValuesMax, largeBodyBytes, parseBody } from './request-body.ts'
import type { YamlParser } from './yaml-parser.ts'
import { startServer } from '../server.harness.ts'
import { run as yamlToJson } from './yaml-to-json.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const refused = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '

const twice = '{"metadata":{"name":"x","name":"other"},"dat":{},"data":{"a":"1","a":"2"}}'
const twiceInYaml = 'metadata:\n  name: x\n  name: other\ndata:\n  a: "1"\ndata:\n  b: "2"\ndat: {}\n'

const bodies: [why: string, type: string, body: string, strict: string, warnings: string[], data: object][] = [
  [
    'JSON',
    'application/json',
    twice,
    'duplicate field "metadata.name", unknown field "dat", duplicate field "data.a"',
    ['duplicate field "metadata.name"', 'unknown field "dat"', 'duplicate field "data.a"'],
    { a: '2' },
  ],
  [
    'YAML',
    'application/yaml',
    twiceInYaml,
    'yaml: unmarshal errors:\n  line 3: key "name" already set in map\n  line 7: key "data" already set in map, unknown field "dat"',
    ['line 3: key "name" already set in map', 'line 7: key "data" already set in map', 'unknown field "dat"'],
    { b: '2' },
  ],
]
for (const [why, type, body, strict, warnings, data] of bodies)
  test(`duplicate fields in ${why}: the last one wins, unless validation is strict`, async () => {
    await using server = await startServer()
    const send = (validation: string) =>
      server.call('POST', `${configMaps}?dryRun=All&fieldValidation=${validation}`, body, { 'content-type': type })
    const strictly = await send('Strict')
    deepEqual([strictly.status, strictly.body.message], [400, refused + strict])
    const warned = await send('Warn')
    deepEqual([warned.status, warned.body.metadata.name, warned.body.data], [201, 'other', data])
    deepEqual(
      warned.headers['warning'],
      warnings.map((text) => `299 - ${JSON.stringify(text)}`),
    )
    const ignored = await send('Ignore')
    deepEqual([ignored.status, ignored.headers['warning']], [201, undefined])
  })

test('a patch with duplicate fields gets a warning, before those for unknown fields of its result', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, { metadata: { name: 'x' } })
  const { status, headers, body } = await server.call(
    'PATCH',
    `${configMaps}/x`,
    '{"wat":1,"data":{"a":"1","a":"2"}}',
    { 'content-type': 'application/merge-patch+json' },
  )
  deepEqual([status, body.data], [200, { a: '2' }])
  deepEqual(headers['warning'], ['299 - "duplicate field \\"data.a\\""', '299 - "unknown field \\"wat\\""'])
})

test('warnings are encoded in UTF-8, as clients expect', async () => {
  await using server = await startServer()
  const { headers } = await server.call('POST', configMaps, { metadata: { name: 'x' }, 'naïve√': 1 })
  const [warning = ''] = headers['warning'] ?? []
  equal(
    new TextDecoder().decode(Uint8Array.from(warning, (byte) => byte.charCodeAt(0))),
    '299 - "unknown field \\"naïve√\\""',
  )
})

const yamls: [why: string, text: string, value: unknown][] = [
  ['words for true and false', 'a: yes\nb: off\nc: "yes"', { a: true, b: false, c: 'yes' }],
  ['timestamps remain strings', 'a: 2001-01-01', { a: '2001-01-01' }],
  ['merge keys and aliases', 'a: &x {b: 1}\nc:\n  <<: *x\n  d: *x', { a: { b: 1 }, c: { b: 1, d: { b: 1 } } }],
]
for (const [why, text, value] of yamls)
  test(`YAML: ${why}`, () =>
    deepEqual({ ...yamlToJson(text), json: JSON.parse(yamlToJson(text).json) }, { json: value, repeatedKeys: [] }))

const dense: [form: string, type: string, body: string | Uint8Array][] = [
  ['JSON', 'application/json', `{"metadata":{"name":"x"},"data":[${'{},'.repeat(bodyValuesMax)}{}]}`],
  ['JSON with the content type of YAML', 'application/yaml', `{"data":[${'0,'.repeat(bodyValuesMax)}0]}`],
  ['protobuf', 'application/vnd.kubernetes.protobuf', denseProtobuf()],
]
for (const [form, type, body] of dense)
  test(`bodies with too many values are rejected in ${form}`, async () => {
    await using server = await startServer()
    const answer = await server.call('POST', configMaps, body, { 'content-type': type })
    deepEqual(
      [answer.status, answer.body.reason, answer.body.message],
      [413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyValuesMax} values`],
    )
  })

/** A ConfigMap whose metadata has many empty finalizers, two bytes each. */
function denseProtobuf(): Uint8Array {
  const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)])
  const field = (tag: number, bytes: Uint8Array | number[]) => Buffer.from([(tag << 3) | 2, ...varint(bytes.length)])
  const wrap = (tag: number, bytes: Uint8Array) => Buffer.concat([field(tag, bytes), bytes])
  const text = (tag: number, value: string) => wrap(tag, Buffer.from(value))
  const finalizers = Buffer.alloc(2 * (bodyValuesMax + 1))
  for (let at = 0; at < finalizers.length; at += 2) finalizers[at] = (14 << 3) | 2
  const object = wrap(1, Buffer.concat([text(1, 'x'), finalizers]))
  const type = wrap(1, Buffer.concat([text(1, 'v1'), text(2, 'ConfigMap')]))
  return Buffer.concat([Buffer.from('k8s\0'), type, wrap(2, object)])
}

test('a long body is freed when it has been decoded', async () => {
  const body = { data: { text: 'x'.repeat(largeBodyBytes) } }
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const yaml: YamlParser = { parse: () => Promise.reject(new Error('not YAML')), close: async () => {} }
  const wire = { method: 'POST', headers: {}, signal: new AbortController().signal } as unknown as WireRequest
  const parsed = parseBody(wire, bytes, { clock: realClock, yaml })
  equal(bytes.length, 0)
  deepEqual(await parsed, { ...(await parsed), kind: 'value', value: body })
})

test('duplicate fields of a long body are found', async () => {
  await using server = await startServer()
  const long = `{"metadata":{"name":"x"},"data":{"a":"1","a":"${'2'.repeat(largeBodyBytes)}"}}`
  const { status, body } = await server.call('POST', `${configMaps}?fieldValidation=Strict`, long)
  deepEqual([status, body.message], [400, `${refused}duplicate field "data.a"`])
})

test('a long JSON body is parsed like a short one', async () => {
  await using server = await startServer()
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, `"\\é${index}`]))
  const long = await server.call('POST', configMaps, { metadata: { name: 'long' }, data })
  deepEqual([long.status, long.body.data], [201, data])
  const broken = await server.call('POST', configMaps, `${JSON.stringify({ data }).slice(0, -1)},}`)
  deepEqual(
    [broken.status, broken.body.message],
    [
      400,
      "the object provided is unrecognized (must be of type JSON): invalid character '}' looking for beginning of object key string",
    ],
  )
})
