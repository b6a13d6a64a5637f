// The generated decoder of a message: see decode.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { typeTest } from '../descriptor/choice.ts'
import { joined, js, type Code, type Fragment } from '../descriptor/code.ts'
import type { Message, ScalarName } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertySet } from '../descriptor/property.ts'
import { zeroOf } from '../descriptor/zero.ts'
import { deepCopy, type JsonObject } from '../json/json-value.ts'
import { decodeDepthMax, inField, neitherForm, prependStep, tooDeep, wrongInteger, wrongType } from './decode-error.ts'
import { decodeBytes, decodeQuantity, decodeTime, isInt32 } from './decode-scalar.ts'
import { fieldPresence, hasKeys, type FieldPresence } from './field-presence.ts'
import { goFieldName } from './go-names.ts'
import { goFieldType, type FieldPlace } from './go-type-name.ts'

/**
 * Unknown fields are reported as paths relative to the message, each step with its separator (`.a[0].b`); the caller
 * prepends its own step. So a body without errors pays for no paths. hasTypeMeta: kind and apiVersion are allowed beside
 * the fields.
 */
export type Decoder = (source: JsonObject, unknown: string[], depth: number, hasTypeMeta: boolean) => JsonObject

/** A type in a field, and an expression for the step in paths that leads to a value of it. */
interface Place extends FieldPlace {
  readonly step: Fragment
  readonly hasTypeMeta: boolean
  readonly decoders: MessageFunctions<Decoder>
}

export function generateDecoder(message: Message, code: Code, decoders: MessageFunctions<Decoder>): void {
  const fields = Object.entries(message.fields).map(([name, field]) => ({ name, field, held: code.variable() }))
  code.line(js`if (depth > ${decodeDepthMax}) throw ${code.constant(tooDeep)}()`)
  code.line(js`let ${joined([js`name`, js`kind`, js`apiVersion`, ...fields.map(({ held }) => held)], ', ')}`)
  code.line(js`try { for (name in source) { const value = source[name]; switch (name) {`)
  for (const { name, field, held } of fields) {
    code.line(js`case ${name}: if (value !== null && value !== undefined) {`)
    const hasTypeMeta = field.hasTypeMeta === true
    const place = { owner: message.name, name, type: field.type, step: js`${`.${name}`}`, hasTypeMeta, decoders }
    decodeInto(code, place, js`value`, held)
    code.line(js`} break`)
  }
  if (!Object.hasOwn(message.fields, 'kind'))
    code.line(js`case 'kind': if (hasTypeMeta) kind = value; else unknown.push('.kind'); break`)
  if (!Object.hasOwn(message.fields, 'apiVersion'))
    code.line(js`case 'apiVersion': if (hasTypeMeta) apiVersion = value; else unknown.push('.apiVersion'); break`)
  code.line(js`default: unknown.push('.' + name) } } }`)
  const goNames = new Map(fields.map(({ name, field }) => [name, goFieldName(message.name, name, field)]))
  code.line(js`catch (error) { throw ${code.constant(inField)}(error, ${code.constant(goNames)}.get(name) ?? name) }`)
  code.line(js`const target = {}`)
  code.line(
    js`if (kind !== undefined) target.kind = kind; if (apiVersion !== undefined) target.apiVersion = apiVersion`,
  )
  for (const { name, field, held } of fields) {
    const presence = fieldPresence(field)
    code.line(js`if (${isPresent(code, presence, held)}) ${propertySet(code, js`target`, name, held)}`)
    if (presence === 'nonEmptyMap')
      code.line(js`else if (${held} !== undefined) ${propertySet(code, js`target`, name, js`undefined`)}`)
  }
  code.line(js`return target`)
}

function isPresent(code: Code, presence: FieldPresence, held: Fragment): Fragment {
  switch (presence) {
    case 'always':
      return js`${held} !== undefined`
    case 'nonZero':
      return held
    case 'nonEmptyList':
      return js`${held} !== undefined && ${held}.length > 0`
    case 'nonEmptyMap':
      return js`${held} !== undefined && ${code.constant(hasKeys)}(${held})`
    default:
      return presence satisfies never
  }
}

/** Writes what decodes the variable `from`, which is neither null nor undefined, into the variable `into`. */
function decodeInto(code: Code, place: Place, from: Fragment, into: Fragment): void {
  const { owner, type, step, hasTypeMeta } = place
  if (typeof type === 'string') return decodeScalar(code, type, place, from, into)
  const wrong = js`throw ${code.constant(wrongType)}(${from}, ${goFieldType(place)}, ${owner})`
  switch (type.kind) {
    case 'message': {
      if (type.isChoice) return decodeChoice(code, place, type, from, into)
      const before = code.variable()
      code.line(js`if (typeof ${from} !== 'object' || Array.isArray(${from})) ${wrong}`)
      code.line(js`const ${before} = unknown.length`)
      code.line(js`${into} = ${code.constant(place.decoders(type))}.run(${from}, unknown, depth + 1, ${hasTypeMeta})`)
      code.line(js`if (unknown.length !== ${before}) ${code.constant(prependStep)}(unknown, ${before}, ${step})`)
      return
    }
    case 'list': {
      const index = code.variable()
      code.line(js`if (!Array.isArray(${from})) ${wrong}`)
      code.line(js`${into} = []; for (let ${index} = 0; ${index} < ${from}.length; ${index}++) {`)
      const itemPlace = { ...place, type: type.element, step: js`${step} + '[' + ${index} + ']'` }
      code.line(js`${into}.push(${decodedItem(code, itemPlace, js`${from}[${index}]`)}) }`)
      return
    }
    case 'map': {
      const key = code.variable()
      code.line(js`if (typeof ${from} !== 'object' || Array.isArray(${from})) ${wrong}`)
      code.line(js`${into} = {}; for (const ${key} in ${from}) {`)
      const itemPlace = { ...place, type: type.value, step: js`${step} + '.' + ${key}` }
      const item = decodedItem(code, itemPlace, js`${from}[${key}]`)
      code.line(js`if (${key} === '__proto__') ${code.constant(setOwn)}(${into}, ${key}, ${item})`)
      code.line(js`else ${into}[${key}] = ${item} }`)
      return
    }
    default:
      return type satisfies never
  }
}

/** Decodes as the field whose form fits. What fits none is absent, or rejected where upstream rejects it. */
function decodeChoice(code: Code, place: Place, { fields }: Message, from: Fragment, into: Fragment): void {
  for (const { type } of Object.values(fields)) {
    code.line(js`if (${typeTest(type, from)}) {`)
    decodeInto(code, { ...place, type }, from, into)
    code.line(js`} else`)
  }
  if ('allows' in fields) code.line(js`throw ${code.constant(neitherForm)}()`)
  else code.line(js`{}`)
}

/** Writes what decodes an element of a list or map; null in it is the zero value. Returns the variable that holds it. */
function decodedItem(code: Code, place: Place, from: Fragment): Fragment {
  const sent = code.variable()
  const item = code.variable()
  code.line(js`const ${sent} = ${from} ?? ${zeroLiteral(code, place)}; let ${item}`)
  decodeInto(code, place, sent, item)
  return item
}

/** Containers are new each time, since what is decoded from them is not shared. */
function zeroLiteral(code: Code, { type }: Place): Fragment {
  if (typeof type !== 'string') return type.kind === 'list' ? js`[]` : js`{}`
  return code.constant(zeroOf(type))
}

function decodeScalar(code: Code, type: ScalarName, place: Place, from: Fragment, into: Fragment): void {
  const { owner } = place
  const unless = (condition: Fragment) =>
    js`if (!(${condition})) throw ${code.constant(wrongType)}(${from}, ${goFieldType(place)}, ${owner})`
  const notInteger = (wanted: 'int32' | 'int64') =>
    js`throw ${code.constant(wrongInteger)}(${from}, ${wanted}, ${owner})`
  switch (type) {
    case 'string':
    case 'duration':
      return code.line(js`${unless(js`typeof ${from} === 'string'`)}; ${into} = ${from}`)
    case 'bytes':
      code.line(unless(js`typeof ${from} === 'string' || Array.isArray(${from})`))
      return code.line(js`${into} = ${code.constant(decodeBytes)}(${from}, ${owner})`)
    case 'time':
    case 'microTime':
      code.line(unless(js`typeof ${from} === 'string'`))
      return code.line(js`${into} = ${code.constant(decodeTime)}(${from}, ${type})`)
    case 'bool':
      return code.line(js`${unless(js`typeof ${from} === 'boolean'`)}; ${into} = ${from}`)
    case 'int32':
      return code.line(
        js`if (typeof ${from} !== 'number' || (${from} | 0) !== ${from}) ${notInteger('int32')}; ${into} = ${from}`,
      )
    case 'int64':
      return code.line(
        js`if (!Number.isSafeInteger(${from}) && typeof ${from} !== 'bigint') ${notInteger('int64')}; ${into} = ${from}`,
      )
    case 'double':
      return code.line(
        js`${unless(js`typeof ${from} === 'number' || typeof ${from} === 'bigint'`)}; ${into} = Number(${from})`,
      )
    case 'quantity':
      return code.line(js`${into} = ${code.constant(decodeQuantity)}(${from})`)
    case 'intOrString':
      code.line(unless(js`typeof ${from} === 'string' || typeof ${from} === 'number' || typeof ${from} === 'bigint'`))
      code.line(js`if (typeof ${from} !== 'string' && !${code.constant(isInt32)}(${from})) ${notInteger('int32')}`)
      return code.line(js`${into} = ${from}`)
    case 'rawExtension':
    case 'json':
      return code.line(js`${into} = ${code.constant(deepCopy)}(${from})`)
    case 'fieldsV1':
      return code.line(js`${into} = ${from}`)
    default:
      return type satisfies never
  }
}
