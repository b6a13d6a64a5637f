// Generated code cannot be injected into: hostile names, values and types are data in every function of a message.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import * as reference from '../../../test/reference/reference.ts'
import { structDifferencesIn, structNodeIn, type FunctionMode } from '../apply/struct-fields.ts'
import { structureOf } from '../apply/structure.ts'
import { decode } from '../decoding/decode.ts'
import { withDefaults } from '../decoding/defaults.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { decodeProtobuf } from '../protobuf/protobuf-decode.ts'
import { encodeProtobuf } from '../protobuf/protobuf-encode.ts'
import { fieldErrorText } from '../validation/field-error.ts'
import { validateFields } from '../validation/validate.ts'
import { Code, js } from './code.ts'
import { list, map, message, string, struct, type Field, type Message } from './field.ts'

const attack = 'globalThis.injected = true'
const hostile: readonly string[] = [
  `"]; ${attack}; ["`,
  `'; ${attack}; '`,
  `"); ${attack}; ("`,
  `\\"; ${attack}; //`,
  `\n${attack}\n`,
  `\r${attack}\r`,
  `\u2028${attack}\u2028`,
  `\u2029${attack}\u2029`,
  `\${${attack}}`,
  `\`\${${attack}}\``,
  `*/ ${attack} /*`,
  `// ${attack}`,
  `</script><script>${attack}</script>`,
  `}) => { ${attack} }) //`,
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  'kind',
  'apiVersion',
  'name',
  'value',
  'target',
  'constants',
  'k0',
  'v0',
  '',
  '\0',
  '\ud800',
  '𝒳',
]

const wasInjected = (): boolean => 'injected' in globalThis

test('strings in a template are literals of the same string', () => {
  for (const text of hostile) {
    const code = new Code()
    code.line(js`return ${text}`)
    equal((code.compiled([]) as () => unknown)(), text)
  }
  equal(wasInjected(), false)
})

test('only fragments, strings, booleans and finite numbers become source', () => {
  for (const value of [NaN, Infinity, -Infinity]) throws(() => js`${value}`, RangeError)
  const forged = { toString: () => attack, text: attack }
  throws(() => js`${forged as never}`, TypeError)
  throws(() => new Code().line(forged as never), TypeError)
  throws(() => new Code().compiled([forged as never]), TypeError)
})

/** A message whose name, field names, enumeration and default are hostile, with a field of each sort for each name. */
const hostileMessage = (inner: Message, fieldOf: (tag: number, text: string) => Field): Message =>
  message(
    `test.v1.${hostile[0]}`,
    Object.fromEntries(hostile.map((text, index) => [text, fieldOf(index + 1, `${inner.name}${text}`)])),
  )
const leaf = message(`test.v1.${hostile[1]}`, { a: string(1, { notEmpty: true }) })
const hostileMessages: readonly Message[] = [
  hostileMessage(leaf, (tag) => string(tag)),
  hostileMessage(leaf, (tag, text) => string(tag, { default: text, enum: [text, ...hostile] })),
  hostileMessage(leaf, (tag) => string(tag, { notEmpty: true, pointer: true })),
  hostileMessage(leaf, (tag) => struct(tag, leaf)),
  hostileMessage(leaf, (tag) => struct(tag, leaf, { pointer: true })),
  hostileMessage(leaf, (tag) => list(tag, leaf)),
  hostileMessage(leaf, (tag) => map(tag, leaf)),
  hostileMessage(leaf, (tag) => map(tag, 'string')),
]

/** Objects with all fields, with none, with every second one, with values of a wrong type, and with an unknown field. */
function bodies({ fields }: Message): readonly JsonObject[] {
  const names = Object.keys(fields)
  const samples = (chosen: readonly string[]): JsonObject =>
    Object.fromEntries(chosen.map((name) => [name, sample(fields[name] as Field)]))
  return [
    samples(names),
    {},
    samples(names.filter((_, index) => index % 2 === 0)),
    Object.fromEntries(names.map((name) => [name, 7])),
    { ...samples(names), [`unknown ${hostile[2]}`]: 1 },
  ]
}

function sample({ type }: Field): JsonValue {
  if (typeof type === 'string') return hostile[3] ?? ''
  if (type.kind === 'message') return { a: hostile[4] ?? '', [hostile[5] ?? '']: 1 }
  if (type.kind === 'list') return [{ a: '' }, { [hostile[6] ?? '']: null }]
  const [first, second] = type.value === 'string' ? ['x', 'y'] : [{}, { a: 'z' }]
  return Object.fromEntries([
    ['__proto__', first],
    ['constructor', second],
  ]) as JsonValue
}

const outcome = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return String(error)
  }
}

const generated = { decode, withDefaults, validateFields, encodeProtobuf, decodeProtobuf }

/** The interpreters preserve the order of what was sent. */
const sortedEntries = (object: object) => Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** What all functions of a message do with an object. */
function results(type: Message, body: JsonObject, functions: typeof generated, mode: FunctionMode): unknown {
  const { ordered } = structureOf(type)
  return outcome(() => {
    const { value, unknownFields } = functions.decode(type, body)
    const filled = functions.withDefaults(type, value)
    const errors = functions.validateFields(type, value).map(fieldErrorText)
    const bytes = functions.encodeProtobuf(type, filled)
    const differences: unknown[] = []
    const before = decode(type, body).value
    structDifferencesIn(mode, ordered)(before, withDefaults(type, before), ({ name }) => differences.push(name))
    const node = structNodeIn(mode, ordered)(before, () => ({}), true)
    return [
      sortedEntries(value),
      unknownFields,
      sortedEntries(filled),
      errors,
      bytes,
      sortedEntries(functions.decodeProtobuf(type, bytes)),
      differences,
      node,
    ]
  })
}

test('hostile schemas and objects: nothing is executed, no prototype changes, and the interpreters agree', () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  for (const type of hostileMessages)
    for (const body of bodies(type))
      deepEqual(results(type, body, generated, 'generated'), results(type, body, reference, 'closures'))
  equal(wasInjected(), false)
  deepEqual(Object.getOwnPropertyNames(Object.prototype), before)
})

test('a field that every object inherits is absent unless it was sent', () => {
  const type = message('test.v1.Inherited', { constructor: string(1, { default: 'filled' }), toString: string(2) })
  deepEqual(decode(type, {}), { value: {}, unknownFields: [] })
  deepEqual(withDefaults(type, {}), { constructor: 'filled' })
  deepEqual(decode(type, { constructor: 'a', toString: 'b' }).value, { constructor: 'a', toString: 'b' })
  deepEqual(encodeProtobuf(type, {}), Uint8Array.of(0x0a, 0, 0x12, 0))
})
