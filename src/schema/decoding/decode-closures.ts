// The decoder of a message, composed of closures: see decode.ts.
import { setOwn } from '../../base/collections/lookup.ts'
import { fitsType } from '../descriptor/choice.ts'
import type { Field, Message, ScalarName } from '../descriptor/field.ts'
import type { MessageFunctions } from '../descriptor/message-function.ts'
import { propertyOf, setProperty, type Property } from '../descriptor/property.ts'
import { zeroOf } from '../descriptor/zero.ts'
import { deepCopy, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { decodeDepthMax, inField, neitherForm, prependStep, tooDeep, wrongInteger, wrongType } from './decode-error.ts'
import { decodeBytes, decodeQuantity, decodeTime, isInt32, doubleOf, isInt64 } from './decode-scalar.ts'
import { fieldPresence, hasKeys, type FieldPresence } from './field-presence.ts'
import { goFieldName } from './go-names.ts'
import { goFieldType, type FieldPlace } from './go-type-name.ts'

/**
 * Unknown fields are reported as paths relative to the message, each step with its separator (`.a[0].b`); the caller
 * prepends its own step. So a body without invalidCases pays for no paths. hasTypeMeta: kind and apiVersion are allowed beside
 * the fields.
 */
export type Decoder = (source: JsonObject, unknown: string[], depth: number, hasTypeMeta: boolean) => JsonObject

/** Decodes a value that is neither null nor undefined. */
type ValueDecoder = (value: JsonValue, unknown: string[], depth: number) => unknown

interface FieldDecoder extends Property {
  /** Its place in the order of the descriptors. */
  readonly index: number
  readonly goName: string
  readonly decode: ValueDecoder
  readonly presence: FieldPresence
}

interface Place extends FieldPlace {
  readonly hasTypeMeta: boolean
  readonly decoders: MessageFunctions<Decoder>
}

export function composeDecoder(message: Message, decoders: MessageFunctions<Decoder>): Decoder {
  const fields = Object.entries(message.fields).map(([name, field], index): FieldDecoder => {
    const place = { owner: message.name, name, type: field.type, hasTypeMeta: field.hasTypeMeta === true, decoders }
    return { ...propertyOf(name), index, decode: fieldDecoder(place), ...fieldFacts(message, name, field) }
  })
  const byName = new Map(fields.map((field) => [field.name, field]))
  return (source, unknown, depth, hasTypeMeta) => {
    if (depth > decodeDepthMax) throw tooDeep()
    const decoded: unknown[] = []
    const target: Record<string, unknown> = {}
    const typeMeta: { kind?: JsonValue; apiVersion?: JsonValue } = {}
    for (const name in source) {
      const value = source[name] // safe name: an own property, unless a prototype was given enumerable ones
      const field = byName.get(name)
      if (field !== undefined) {
        if (value !== null && value !== undefined) decoded[field.index] = decodedField(field, value, unknown, depth)
      } else if (hasTypeMeta && (name === 'kind' || name === 'apiVersion')) typeMeta[name] = value as JsonValue
      else unknown.push(`.${name}`)
    }
    if (typeMeta.kind !== undefined) target['kind'] = typeMeta.kind
    if (typeMeta.apiVersion !== undefined) target['apiVersion'] = typeMeta.apiVersion
    for (const field of fields) {
      const value = decoded[field.index]
      if (value === undefined) continue
      if (isPresent(field.presence, value)) setProperty(target, field, value)
      else if (field.presence === 'nonEmptyMap') setProperty(target, field, undefined)
    }
    return target as JsonObject
  }
}

const fieldFacts = (message: Message, name: string, field: Field) => ({
  goName: goFieldName(message.name, name, field),
  presence: fieldPresence(field),
})

function decodedField({ decode, goName }: FieldDecoder, value: JsonValue, unknown: string[], depth: number): unknown {
  try {
    return decode(value, unknown, depth)
  } catch (error) {
    throw inField(error, goName)
  }
}

function isPresent(presence: FieldPresence, value: unknown): boolean {
  switch (presence) {
    case 'always':
      return true
    case 'nonZero':
      return Boolean(value)
    case 'nonEmptyList':
      return (value as readonly unknown[]).length > 0
    case 'nonEmptyMap':
      return hasKeys(value as object)
    default:
      return presence satisfies never
  }
}

function fieldDecoder(place: Place): ValueDecoder {
  const decode = valueDecoder(place)
  if (typeof place.type === 'string') return decode
  return withStep(decode, `.${place.name}`)
}

/** The same decoder; unknown fields in the value get the step that leads to it. */
const withStep =
  (decode: ValueDecoder, step: string): ValueDecoder =>
  (value, unknown, depth) => {
    const before = unknown.length
    const decoded = decode(value, unknown, depth)
    if (unknown.length !== before) prependStep(unknown, before, step)
    return decoded
  }

function valueDecoder(place: Place): ValueDecoder {
  const { owner, type } = place
  if (typeof type === 'string') return scalarDecoder(type, place)
  switch (type.kind) {
    case 'message':
      return type.isChoice ? choiceDecoder(place, type) : messageDecoder(place, type)
    case 'list':
      return listDecoder(owner, goFieldType(place), itemDecoder({ ...place, type: type.element }))
    case 'map':
      return mapDecoder(owner, goFieldType(place), itemDecoder({ ...place, type: type.value }))
    default:
      return type satisfies never
  }
}

function messageDecoder(place: Place, type: Message): ValueDecoder {
  const { owner, hasTypeMeta } = place
  const decoder = place.decoders(type)
  const wanted = goFieldType(place)
  return (value, unknown, depth) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, wanted, owner)
    return decoder.run(value as JsonObject, unknown, depth + 1, hasTypeMeta)
  }
}

const listDecoder =
  (owner: string, wanted: string, decodeItem: ValueDecoder): ValueDecoder =>
  (value, unknown, depth) => {
    if (!Array.isArray(value)) throw wrongType(value, wanted, owner)
    return value.map((item: JsonValue, index) => {
      const before = unknown.length
      const decoded = decodeItem(item, unknown, depth)
      if (unknown.length !== before) prependStep(unknown, before, `[${index}]`)
      return decoded
    })
  }

const mapDecoder =
  (owner: string, wanted: string, decodeItem: ValueDecoder): ValueDecoder =>
  (value, unknown, depth) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, wanted, owner)
    const map: Record<string, unknown> = {}
    for (const [key, item] of Object.entries(value as JsonObject)) {
      const before = unknown.length
      setOwn(map, key, decodeItem(item as JsonValue, unknown, depth))
      if (unknown.length !== before) prependStep(unknown, before, `.${key}`)
    }
    return map
  }

/** Decodes as the field whose form fits. What fits none is absent, or rejected where upstream rejects it. */
function choiceDecoder(place: Place, { fields }: Message): ValueDecoder {
  const forms = Object.values(fields).map(({ type }) => ({ type, decode: valueDecoder({ ...place, type }) }))
  const isRequired = 'allows' in fields
  return (value, unknown, depth) => {
    const form = forms.find(({ type }) => fitsType(type, value))
    if (form !== undefined) return form.decode(value, unknown, depth)
    if (isRequired) throw neitherForm()
    return undefined
  }
}

/** Decodes an element of a list or map; null in it is the zero value. */
function itemDecoder(place: Place): ValueDecoder {
  const decode = valueDecoder(place)
  return (value, unknown, depth) => decode(value ?? (zeroOf(place.type) as JsonValue), unknown, depth)
}

function scalarDecoder(type: ScalarName, place: Place): ValueDecoder {
  const { owner } = place
  const wanted = goFieldType(place)
  const ofType =
    (...types: readonly string[]): ValueDecoder =>
    (value) => {
      if (!types.includes(typeof value)) throw wrongType(value, wanted, owner)
      return value
    }
  switch (type) {
    case 'string':
    case 'duration':
      return ofType('string')
    case 'bool':
      return ofType('boolean')
    case 'double':
      return (value) => {
        const double = doubleOf(value)
        if (double === undefined) throw wrongType(value, wanted, owner)
        return double
      }
    case 'bytes':
      return (value) => {
        if (typeof value !== 'string' && !Array.isArray(value)) throw wrongType(value, wanted, owner)
        return decodeBytes(value, owner)
      }
    case 'time':
    case 'microTime':
      return (value) => {
        if (typeof value !== 'string') throw wrongType(value, wanted, owner)
        return decodeTime(value, type)
      }
    case 'int32':
      return (value) => {
        if (!isInt32(value)) throw wrongInteger(value, 'int32', owner)
        return value
      }
    case 'int64':
      return (value) => {
        if (!isInt64(value)) throw wrongInteger(value, 'int64', owner)
        return value
      }
    case 'quantity':
      return decodeQuantity
    case 'intOrString':
      return (value) => {
        if (typeof value === 'string') return value
        if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongType(value, wanted, owner)
        if (!isInt32(value)) throw wrongInteger(value, 'int32', owner)
        return value
      }
    case 'rawExtension':
    case 'json':
      return deepCopy
    case 'fieldsV1':
      // Managed fields are shared: they are large, rarely change, and comparing them begins with their identity.
      return (value) => value
    default:
      return type satisfies never
  }
}
