// The compiled derivations do what the interpreted references in test/reference do, for every kind: on random objects
// with absent, zero and empty values, on such with mistakes in them, and on messages that contain themselves.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import { seededRandom, type Random } from '../base/random/random.ts'
import * as reference from '../../test/reference/reference.ts'
import { decode } from './decoding/decode.ts'
import { withDefaults } from './decoding/defaults.ts'
import { bool, int32, list, map, message, string, struct, type Field, type Message } from './descriptor/field.ts'
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

const messages: [name: string, message: Message][] = [
  ...kinds.map((kind): [string, Message] => [`${kind.apiVersion} ${kind.kind}`, kind.message]),
  ['a message that contains itself', tree],
]
const rounds = 30

for (const [name, type] of messages)
  test(`compiled as interpreted: ${name}`, () => {
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
      const broken = withMistakes(sent, random) as JsonObject
      deepEqual(
        outcome(() => decode(type, broken)),
        outcome(() => reference.decode(type, broken)),
        JSON.stringify(broken),
      )
    }
  })

const outcome = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return String(error)
  }
}

/** The same value with fields that no type has, and here and there a value of another type. */
function withMistakes(value: JsonValue, random: Random): JsonValue {
  if (random.below(60) === 0) return [null, 7, 2.5, 'x', true, [], {}][random.below(7)] ?? null
  if (Array.isArray(value)) return value.map((item) => withMistakes(item, random))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [name, withMistakes(item ?? null, random)])
  if (random.below(20) === 0) entries.splice(random.below(entries.length + 1), 0, [`unknown${random.below(9)}`, {}])
  return Object.fromEntries(entries) as JsonValue
}

test('what was sent is never part of what comes out, and the order sent does not matter', () => {
  const sent = { children: [{ name: 'b' }], name: 'a', named: { __proto: { name: 'c' } } }
  const { value } = decode(tree, sent)
  deepEqual(Object.keys(value), ['name', 'children', 'named'])
  ok(value['children'] !== sent.children && value['named'] !== sent.named)
  const hostile = decode(tree, JSON.parse('{"named":{"__proto__":{"name":"c"}}}')).value as { named: object }
  deepEqual(Object.keys(hostile.named), ['__proto__'])
  equal(Object.getPrototypeOf(hostile.named), Object.prototype)
})

test('defaults that are shared cannot be changed', () => {
  const { spec } = withDefaults(kinds.find(({ kind }) => kind === 'Deployment')?.message as Message, {
    spec: {},
  }) as unknown as { spec: { template: { metadata: Record<string, string> } } }
  throws(() => (spec.template.metadata['name'] = 'x'), TypeError)
})

test('an encoding that fails leaves nothing behind for the next', () => {
  const secret = kinds.find(({ kind }) => kind === 'Secret')?.message as Message
  const good = encodeProtobuf(secret, { metadata: { name: 'a' } })
  throws(() => encodeProtobuf(secret, { metadata: { name: 'b' }, data: { x: '!' } }))
  deepEqual(encodeProtobuf(secret, { metadata: { name: 'a' } }), good)
})

test('a value that reaches beyond its message is refused', () => {
  // A child of two bytes whose name claims five.
  throws(() => decodeProtobuf(tree, Uint8Array.of(0x12, 2, 0x0a, 5, 1, 1, 1, 1, 1)), ProtobufError)
})
