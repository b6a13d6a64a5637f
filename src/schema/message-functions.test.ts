// The generated functions of messages do what the interpreters in test/reference do, for every
// kind: on random objects with absent, zero and empty values, on objects with errors, and on recursive messages.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import { seededRandom, type Random } from '../base/random/random.ts'
import * as reference from '../../test/reference/reference.ts'
import { decode } from './decoding/decode.ts'
import { withDefaults } from './decoding/defaults.ts'
import { jsonText, parseJson } from './json/exact-json.ts'
import {
  bool,
  double,
  int32,
  int64,
  intOrString,
  list,
  map,
  message,
  quantity,
  string,
  struct,
  type Field,
  type Message,
} from './descriptor/field.ts'
import { structDifferencesIn, structNodeIn } from './apply/struct-fields.ts'
import { emptySet } from './apply/field-set.ts'
import { structureOf } from './apply/structure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json/json-value.ts'
import { decodeProtobuf, ProtobufError } from './protobuf/protobuf-decode.ts'
import { encodeProtobuf } from './protobuf/protobuf-encode.ts'
import { randomInstance } from './descriptor/random-instance.harness.ts'
import { validateFields } from './validation/validate.ts'

/** A message that contains itself, as the schemas inside a CustomResourceDefinition do. */
const tree: Message = message('test.v1.Tree', {
  name: string(1, { required: true, notEmpty: true }),
  get child(): Field {
    return struct(2, tree, { pointer: true })
  },
  get children(): Field {
    return list(3, tree)
  },
  get named(): Field {
    return map(4, tree)
  },
  size: int32(5, { default: 3, minimum: 1 }),
  'x-odd "name"\u2028': bool(6),
})

const numbers: Message = message('test.v1.Numbers', {
  short: int32(1),
  long: int64(2),
  part: double(3),
  either: intOrString(4),
  amount: quantity(5),
})

const messages: [name: string, message: Message][] = [
  ...kinds.map((kind): [string, Message] => [`${kind.apiVersion} ${kind.kind}`, kind.message]),
  ['a message that contains itself', tree],
]
const rounds = 30
for (const [name, type] of messages)
  test(`generated as interpreted: ${name}`, () => {
    const random = seededRandom(11)
    for (let round = 0; round < rounds; round++) {
      const sent = randomInstance(type, random) as JsonObject
      const value = reference.decode(type, sent).value
      deepEqual(decode(type, sent), { value, unknownFields: [] })
      const filled = reference.withDefaults(type, value)
      deepEqual(withDefaults(type, value), filled)
      deepEqual(validateFields(type, value), reference.validateFields(type, value))
      const bytes = reference.encodeProtobuf(type, filled)
      deepEqual(encodeProtobuf(type, filled), bytes)
      deepEqual(decodeProtobuf(type, bytes), reference.decodeProtobuf(type, bytes))
      const broken = withErrors(sent, random) as JsonObject
      deepEqual(
        outcome(() => decode(type, broken)),
        outcome(() => reference.decode(type, broken)),
        jsonText(broken),
      )
    }
  })

test('the result shares nothing with what was sent, and has the order of the descriptors', () => {
  const sent = { children: [{ name: 'b' }], name: 'a', named: { __proto: { name: 'c' } } }
  const { value } = decode(tree, sent)
  deepEqual(Object.keys(value), ['name', 'children', 'named'])
  ok(value['children'] !== sent.children && value['named'] !== sent.named)
  const hostile = decode(tree, parseJson('{"named":{"__proto__":{"name":"c"}}}')).value as { named: object }
  deepEqual(Object.keys(hostile.named), ['__proto__'])
  equal(Object.getPrototypeOf(hostile.named), Object.prototype)
})

test('integers beyond 2^53 keep their value, and numbers of another form are rejected', () => {
  const decodes = (sent: JsonObject) => decode(numbers, sent).value
  deepEqual(decodes({ long: 2n ** 60n, part: 2n ** 60n, either: 5, amount: 2n ** 60n }), {
    long: 2n ** 60n,
    part: 2 ** 60,
    either: 5,
    amount: String(2n ** 60n),
  })
  deepEqual(decodes({ part: 0.5, either: '5%' }), { part: 0.5, either: '5%' })
  throws(() => decodes({ long: 0.5 }), /cannot unmarshal number 0\.5 into .*long of type int64/)
  throws(() => decodes({ long: '1' }), /cannot unmarshal string into .*long of type int64/)
  throws(() => decodes({ short: 2n ** 60n }), /number 1152921504606846976 into .*short of type int32/)
  throws(() => decodes({ part: '1' }), /cannot unmarshal string into .*part/)
  throws(() => decodes({ either: true }), /cannot unmarshal bool into .*either/)
  throws(() => decodes({ either: 2n ** 60n }), /cannot unmarshal number 1152921504606846976 into .*either/)
})

test('shared defaults cannot be changed', () => {
  const { spec } = withDefaults(messageOf('Deployment'), {
    spec: {},
  }) as unknown as { spec: { template: { metadata: Record<string, string> } } }
  throws(() => (spec.template.metadata['name'] = 'x'), TypeError)
})

test('an encoding that fails leaves nothing behind for the next', () => {
  const secret = messageOf('Secret')
  const good = encodeProtobuf(secret, { metadata: { name: 'a' } })
  throws(() => encodeProtobuf(secret, { metadata: { name: 'b' }, data: { x: '!' } }))
  deepEqual(encodeProtobuf(secret, { metadata: { name: 'a' } }), good)
})

test('a value that reaches beyond its message is rejected', () => {
  // A child of two bytes whose name claims five.
  throws(() => decodeProtobuf(tree, Uint8Array.of(0x12, 2, 0x0a, 5, 1, 1, 1, 1, 1)), ProtobufError)
})

const messageOf = (name: string): Message => kinds.find(({ kind }) => kind === name)?.message as Message

test('structs: the nodes and differences of both modes are equal', () => {
  const random = seededRandom(12)
  for (const [name, type] of messages) {
    const { ordered } = structureOf(type)
    const [generated, closures] = (['generated', 'closures'] as const).map((mode) => ({
      node: structNodeIn(mode, ordered),
      differences: structDifferencesIn(mode, ordered),
    }))
    for (let round = 0; round < 5; round++) {
      const old = randomInstance(type, random) as JsonObject
      const next = randomInstance(type, random) as JsonObject
      // Every second value has a node of its own, so that both shared and built nodes occur.
      const descend = (_: unknown, value: unknown) =>
        jsonText(value).length % 2 === 0 ? emptySet : { 'f:x': emptySet }
      for (const isMember of [true, false])
        deepEqual(closures?.node(old, descend, isMember), generated?.node(old, descend, isMember), name)
      const found: unknown[][] = [[], []]
      generated?.differences(old, next, (...difference) => found[0]?.push(difference))
      closures?.differences(old, next, (...difference) => found[1]?.push(difference))
      deepEqual(found[1], found[0], name)
    }
  }
})

const outcome = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return String(error)
  }
}

/** The same value with unknown fields, and some values of another type. */
function withErrors(value: JsonValue, random: Random): JsonValue {
  if (random.below(60) === 0) return [null, 7, 2.5, 'x', true, [], {}][random.below(7)] ?? null
  if (Array.isArray(value)) return value.map((item) => withErrors(item, random))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [name, withErrors(item ?? null, random)])
  if (random.below(20) === 0) entries.splice(random.below(entries.length + 1), 0, [`unknown${random.below(9)}`, {}])
  return Object.fromEntries(entries) as JsonValue
}
