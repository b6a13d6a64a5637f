// decode: from parsed JSON to an object of a message, as Go's decoder and zero values would have it.
// Wrong types are errors; unknown fields are reported and dropped; empty values that mean absent are dropped.
// The fields come out in the order of the descriptors, whatever order they were sent in: so objects of one kind share
// their shapes, and answers look alike.
import { fitsChoice } from '../descriptor/choice.ts'
import { derivation, quoted, type Code } from '../descriptor/compile.ts'
import {
  decodeBytes,
  DecodeError,
  decodeQuantity,
  decodeTime,
  FieldTypeError,
  wrongInteger,
  wrongType,
} from './decode-scalar.ts'
import type { Field, Message, ScalarName, Type } from '../descriptor/field.ts'
import { goFieldName, goListType, goTextType } from './go-names.ts'
import { deepCopy, isJsonObject, jsonKind, type JsonObject } from '../json/json-value.ts'
import { keepsEmpty, zeroOf } from '../descriptor/zero.ts'

export { DecodeError } from './decode-scalar.ts'

export interface Decoded {
  readonly value: JsonObject
  /** Paths of fields that the type does not have: `spec.replcas`. */
  readonly unknownFields: readonly string[]
}

/** Nesting beyond this is refused; no API type comes near it. */
const depthMax = 100

export function decode(message: Message, value: unknown): Decoded {
  if (!isJsonObject(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goName(message.name)}`)
  const unknownFields: string[] = []
  try {
    return { value: decoderOf(message).run(value, unknownFields, 0, true), unknownFields }
  } catch (error) {
    throw error instanceof FieldTypeError ? error.toDecodeError() : error
  }
}

/**
 * Paths grow on the way out: a function adds what it does not know under the name alone, and its caller puts its own
 * name before it. So a body without mistakes pays for no paths. Typed: kind and apiVersion may stand beside the fields.
 */
type Decoder = (source: JsonObject, unknown: string[], depth: number, isTyped: boolean) => JsonObject

const decoderOf = derivation<Decoder>(['source', 'unknown', 'depth', 'isTyped'], (message, code) => {
  const fields = Object.entries(message.fields).map(([name, field]) => ({ name, field, held: code.variable() }))
  code.line(`if (depth > ${depthMax}) throw ${code.constant(tooDeep)}()`)
  code.line(`let name, kind, apiVersion${fields.map(({ held }) => `, ${held}`).join('')}`)
  code.line('try { for (name in source) { const value = source[name]; switch (name) {')
  for (const { name, field, held } of fields) {
    code.line(`case ${quoted(name)}: if (value !== null && value !== undefined) {`)
    const place = { owner: message.name, name, type: field.type, at: quoted(name), isTyped: field.hasTypeMeta }
    decodeInto(code, place, 'value', held)
    code.line('} break')
  }
  for (const name of ['kind', 'apiVersion'].filter((typeName) => !Object.hasOwn(message.fields, typeName)))
    code.line(`case '${name}': if (isTyped) ${name} = value; else unknown.push(name); break`)
  code.line('default: unknown.push(name) } } }')
  const goNames = new Map(fields.map(({ name, field }) => [name, goFieldName(message.name, name, field)]))
  code.line(`catch (error) { throw ${code.constant(within)}(error, ${code.constant(goNames)}.get(name) ?? name) }`)
  code.line('const target = {}')
  code.line('if (kind !== undefined) target.kind = kind; if (apiVersion !== undefined) target.apiVersion = apiVersion')
  for (const { name, field, held } of fields) {
    code.line(`if (${isPresent(code, field, held)}) target[${quoted(name)}] = ${held}`)
    if (typeof field.type === 'object' && field.type.kind === 'map')
      code.line(`else if (${held} !== undefined) target[${quoted(name)}] = undefined`)
  }
  code.line('return target')
})

/** A map as it was sent: one that was empty is there as undefined, which to all else is absent. */
export const sentMap = <T extends object, Name extends keyof T & string>(object: T, name: Name): unknown =>
  object[name] ?? (name in object ? {} : undefined)

/**
 * An empty, zero or false value of a Go field by value with omitempty is the same as no value. So is an empty list
 * that is null when it is unset: the form in which upstream stores it does not tell the two apart.
 */
function isPresent(code: Code, field: Field, held: string): string {
  const { type, keepEmpty } = field
  const isList = typeof type === 'object' && type.kind === 'list'
  if (keepsEmpty(field) && !(isList && keepEmpty)) return `${held} !== undefined`
  if (typeof type === 'string') return neverEmpty.has(type) ? `${held} !== undefined` : held
  if (isList) return `${held} !== undefined && ${held}.length > 0`
  return `${held} !== undefined${type.kind === 'map' ? ` && ${code.constant(hasKeys)}(${held})` : ''}`
}

/** Structs in Go, and JSON of any shape. */
const neverEmpty: ReadonlySet<Type> = new Set(['intOrString', 'rawExtension', 'fieldsV1', 'json'])

/** A type where it stands: in a field of the message of this name, under this path as an expression. */
interface Place {
  readonly owner: string
  readonly name: string
  readonly type: Type
  readonly at: string
  readonly isTyped: boolean | undefined
}

/** Writes what decodes the variable `from`, which is neither null nor undefined, into the variable `into`. */
function decodeInto(code: Code, place: Place, from: string, into: string): void {
  const { owner, type, at, isTyped = false } = place
  const wrong = `throw ${code.constant(wrongType)}(${from}, ${quoted(typeName(place))}, ${quoted(owner)})`
  if (typeof type === 'string') return decodeScalar(code, type, place, from, into)
  switch (type.kind) {
    case 'message': {
      if (type.isChoice) return decodeChoice(code, place, type, from, into)
      const before = code.variable()
      code.line(`if (typeof ${from} !== 'object' || Array.isArray(${from})) ${wrong}`)
      code.line(`const ${before} = unknown.length`)
      code.line(`${into} = ${code.constant(decoderOf(type))}.run(${from}, unknown, depth + 1, ${isTyped})`)
      code.line(`if (unknown.length !== ${before}) ${code.constant(prefix)}(unknown, ${before}, ${at})`)
      return
    }
    case 'list': {
      const index = code.variable()
      code.line(`if (!Array.isArray(${from})) ${wrong}`)
      code.line(`${into} = []; for (let ${index} = 0; ${index} < ${from}.length; ${index}++) {`)
      const itemPlace = { ...place, type: type.element, at: `${at} + '[' + ${index} + ']'` }
      code.line(`${into}.push(${decodedItem(code, itemPlace, `${from}[${index}]`)}) }`)
      return
    }
    case 'map': {
      const key = code.variable()
      code.line(`if (typeof ${from} !== 'object' || Array.isArray(${from})) ${wrong}`)
      code.line(`${into} = {}; for (const ${key} in ${from}) {`)
      const item = decodedItem(code, { ...place, type: type.value, at: `${at} + '.' + ${key}` }, `${from}[${key}]`)
      code.line(
        `if (${key} === '__proto__') ${code.constant(putProto)}(${into}, ${item}); else ${into}[${key}] = ${item} }`,
      )
      return
    }
    default:
      return type satisfies never
  }
}

/** Decodes as the field whose form fits. What fits none is absent, or refused where upstream refuses it. */
function decodeChoice(code: Code, place: Place, { fields }: Message, from: string, into: string): void {
  for (const { type } of Object.values(fields)) {
    code.line(`if (${fitsChoice(type, from)}) {`)
    decodeInto(code, { ...place, type }, from, into)
    code.line('} else')
  }
  code.line('allows' in fields ? `throw ${code.constant(neitherForm)}()` : '{}')
}

const neitherForm = () => new DecodeError('boolean or JSON schema expected')

/** Writes what decodes an element of a list or map; null in it is the zero value. Returns the variable that holds it. */
function decodedItem(code: Code, place: Place, from: string): string {
  const [sent, item] = [code.variable(), code.variable()]
  const zero =
    typeof place.type === 'string' ? JSON.stringify(zeroOf(place.type)) : place.type.kind === 'list' ? '[]' : '{}'
  code.line(`const ${sent} = ${from} ?? ${zero}; let ${item}`)
  decodeInto(code, place, sent, item)
  return item
}

function decodeScalar(code: Code, type: ScalarName, place: Place, from: string, into: string): void {
  const owner = quoted(place.owner)
  const wrong = (helper: typeof wrongType, wanted: string) =>
    `throw ${code.constant(helper)}(${from}, ${quoted(wanted)}, ${owner})`
  const unless = (condition: string) => `if (!(${condition})) ${wrong(wrongType, typeName(place))}`
  switch (type) {
    case 'string':
    case 'duration':
      return void code.line(`${unless(`typeof ${from} === 'string'`)}; ${into} = ${from}`)
    case 'bytes':
      code.line(unless(`typeof ${from} === 'string' || Array.isArray(${from})`))
      return void code.line(`${into} = ${code.constant(decodeBytes)}(${from}, ${owner})`)
    case 'time':
    case 'microTime':
      code.line(unless(`typeof ${from} === 'string'`))
      return void code.line(`${into} = ${code.constant(decodeTime)}(${from}, '${type}')`)
    case 'bool':
      return void code.line(`${unless(`typeof ${from} === 'boolean'`)}; ${into} = ${from}`)
    case 'int32':
      return void code.line(`if ((${from} | 0) !== ${from}) ${wrong(wrongInteger, 'int32')}; ${into} = ${from}`)
    case 'int64':
      return void code.line(`if (!Number.isSafeInteger(${from})) ${wrong(wrongInteger, 'int64')}; ${into} = ${from}`)
    case 'double':
      return void code.line(`${unless(`typeof ${from} === 'number'`)}; ${into} = ${from}`)
    case 'quantity':
      return void code.line(`${into} = ${code.constant(decodeQuantity)}(${from})`)
    case 'intOrString':
      code.line(unless(`typeof ${from} === 'string' || typeof ${from} === 'number'`))
      code.line(`if (typeof ${from} === 'number' && (${from} | 0) !== ${from}) ${wrong(wrongInteger, 'int32')}`)
      return void code.line(`${into} = ${from}`)
    case 'rawExtension':
    case 'json':
      return void code.line(`${into} = ${code.constant(deepCopy)}(${from})`)
    case 'fieldsV1':
      // Owned fields are shared: they are large, seldom change, and comparing them begins with their identity.
      return void code.line(`${into} = ${from}`)
    default:
      return type satisfies never
  }
}

const tooDeep = () => new FieldTypeError((path) => `${path}: nested more than ${depthMax} levels deep`)

const within = (error: unknown, name: string): unknown => (error instanceof FieldTypeError ? error.within(name) : error)

function prefix(paths: string[], from: number, name: string): void {
  for (let index = from; index < paths.length; index++) paths[index] = `${name}.${paths[index]}`
}

function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

/** Sets the key __proto__ as any other. */
const putProto = (target: object, value: unknown): void =>
  void Object.defineProperty(target, '__proto__', { value, enumerable: true, writable: true, configurable: true })

const goName = (name: string): string => name.split('.').slice(-2).join('.')

const goScalars: Readonly<Record<ScalarName, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  intOrString: 'int32',
  duration: 'string',
  time: 'string',
  microTime: 'string',
  fieldsV1: 'v1.FieldsV1',
  rawExtension: 'runtime.RawExtension',
  json: 'v1.JSON',
}

function typeName(place: Pick<Place, 'owner' | 'name' | 'type'>): string {
  const { owner, name, type } = place
  if (type === 'string') return goTextType(owner, name)
  if (typeof type === 'string') return goScalars[type]
  if (type.kind === 'message') return goName(type.name)
  if (type.kind === 'list') return goListType(owner, name) ?? `[]${typeName({ ...place, type: type.element })}`
  return type.value === 'quantity' ? 'v1.ResourceList' : `map[string]${typeName({ ...place, type: type.value })}`
}
