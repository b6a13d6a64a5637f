// Interpreted. decode: from parsed JSON to an object of a message, with Go's rules for decoding and zero values. Wrong
// types are errors; unknown fields are reported and dropped; empty values that mean absent are dropped.
import { lookup, setOwn } from '../../src/base/collections/lookup.ts'
import { chosenType } from '../../src/schema/descriptor/choice.ts'
import type { Field, Message, ScalarName, Type } from '../../src/schema/descriptor/field.ts'
import { decodeBytes } from '../../src/schema/decoding/decode-scalar.ts'
import { goFieldName, goListType, goTextType } from '../../src/schema/decoding/go-names.ts'
import { canonicalQuantity } from '../../src/schema/scalar/quantity.ts'
import { keepsEmpty, zeroOf } from '../../src/schema/descriptor/zero.ts'
import { isJsonObject, jsonKind, type JsonObject } from '../../src/schema/json/json-value.ts'

/** The body is not of the declared type: the whole request is malformed. */
export class DecodeError extends Error {
  override name = 'DecodeError'
}

export interface Decoded {
  readonly value: JsonObject
  /** Paths of unknown fields: `spec.replcas`. */
  readonly unknownFields: readonly string[]
}

/** Deeper nesting is rejected; no API type comes near it. */
const depthMax = 100

/** Fields that every kind has in addition. */
const typeMeta = new Set(['apiVersion', 'kind'])

export function decode(message: Message, value: unknown): Decoded {
  const unknownFields: string[] = []
  if (!isJsonObject(value))
    throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goName(message.name)}`)
  const decoded = decodeMessage(message, value, { path: '', names: '', isTyped: true }, unknownFields, 0)
  return { value: decoded, unknownFields: unknownFields.map((path) => path.slice(1)) }
}

function decodeMessage(
  message: Message,
  source: JsonObject,
  { path, names, isTyped }: Pick<Place, 'path' | 'names' | 'isTyped'>,
  unknown: string[],
  depth: number,
): JsonObject {
  if (depth > depthMax) throw new DecodeError(`${names}: nested more than ${depthMax} levels deep`)
  const target: Record<string, unknown> = {}
  for (const name in source) {
    const value = source[name]
    const at = `${path}.${name}`
    const field = lookup(message.fields, name)
    if (field === undefined) {
      if (isTyped && typeMeta.has(name)) setOwn(target, name, value)
      else unknown.push(at)
      continue
    }
    if (value === null || value === undefined) continue
    const goName = goFieldName(message.name, name, field)
    const place = {
      path: at,
      names: names === '' ? goName : `${names}.${goName}`,
      struct: message.name.slice(message.name.lastIndexOf('.') + 1),
      isTyped: field.hasTypeMeta === true,
    }
    const decoded = decodeType(field.type, value, place, unknown, depth + 1)
    if (!meansAbsent(field, decoded)) setOwn(target, name, decoded)
    else if (typeof field.type === 'object' && field.type.kind === 'map') setOwn(target, name, undefined)
  }
  return target as JsonObject
}

/** The position in the body: the path with and without indexes and keys, and the Go struct of the field. */
interface Place {
  readonly path: string
  readonly names: string
  readonly isTyped: boolean
  readonly struct: string
}

function decodeType(type: Type, value: unknown, place: Place, unknown: string[], depth: number): unknown {
  if (typeof type === 'string') return decodeScalar(type, value, place)
  switch (type.kind) {
    case 'message':
      if (type.isChoice) return decodeChoice(type, value, place, unknown, depth)
      if (!isJsonObject(value)) throw mismatch(value, goName(type.name), place)
      return decodeMessage(type, value, place, unknown, depth)
    case 'list':
      if (!Array.isArray(value)) throw mismatch(value, typeName(type, place), place)
      return value.map((item, index) =>
        decodeType(
          type.element,
          item ?? zeroOf(type.element),
          { ...place, path: `${place.path}[${index}]` },
          unknown,
          depth,
        ),
      )
    case 'map': {
      if (!isJsonObject(value)) throw mismatch(value, typeName(type, place), place)
      const target: Record<string, unknown> = {}
      for (const name in value) {
        const inside = { ...place, path: `${place.path}.${name}` }
        const item = decodeType(type.value, value[name] ?? zeroOf(type.value), inside, unknown, depth)
        setOwn(target, name, item)
      }
      return target
    }
    default:
      return type satisfies never
  }
}

function decodeChoice(type: Message, value: unknown, place: Place, unknown: string[], depth: number): unknown {
  const chosen = chosenType(type, value)
  if (chosen !== undefined) return decodeType(chosen, value, place, unknown, depth)
  if ('allows' in type.fields) throw new DecodeError('boolean or JSON schema expected')
  return undefined
}

function decodeScalar(type: ScalarName, value: unknown, place: Place): unknown {
  switch (type) {
    case 'string':
    case 'duration':
      if (typeof value !== 'string') throw mismatch(value, goTextType(place.struct, lastName(place)), place)
      return value
    case 'bytes':
      if (typeof value !== 'string' && !Array.isArray(value)) throw mismatch(value, '[]uint8', place)
      if (Array.isArray(value) && value.length > 0) throw mismatch(value[0], 'uint8', place)
      return decodeBytes(value, place.struct)
    case 'time':
    case 'microTime':
      if (typeof value !== 'string') throw mismatch(value, 'string', place)
      return decodeTime(value, type)
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(value, 'bool', place)
      return value
    case 'int32':
    case 'int64':
      if (typeof value === 'bigint' && type === 'int64') return value
      if (typeof value === 'bigint') throw mismatch(value, type, place, `number ${value}`)
      if (typeof value !== 'number') throw mismatch(value, type, place)
      if (type === 'int32' ? (value | 0) !== value : !Number.isSafeInteger(value))
        throw mismatch(value, type, place, `number ${value}`)
      return value
    case 'double':
      if (typeof value !== 'number' && typeof value !== 'bigint') throw mismatch(value, 'float64', place)
      return Number(value)
    case 'quantity':
      return decodeQuantity(typeof value === 'object' ? JSON.stringify(value) : String(value))
    case 'intOrString':
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
        throw mismatch(value, 'int32', place)
      return typeof value !== 'string' ? decodeScalar('int32', value, place) : value
    case 'fieldsV1':
    case 'rawExtension':
    case 'json':
      return value
    default:
      return type satisfies never
  }
}

const timestamp = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
/** Go's name of each type, which its parser uses in errors. */
const timeLayouts = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' }

function decodeTime(text: string, type: 'time' | 'microTime'): string {
  if (timestamp.test(text) && !Number.isNaN(Date.parse(text))) return text
  const shown = JSON.stringify(text)
  throw new DecodeError(`parsing time ${shown} as "${timeLayouts[type]}": cannot parse ${shown} as "2006"`)
}

function decodeQuantity(text: string): string {
  const canonical = canonicalQuantity(text)
  if (canonical !== undefined) return canonical
  throw new DecodeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
}

/** An empty, zero or false value of a non-pointer Go field with omitempty equals an absent value. */
function meansAbsent(field: Field, value: unknown): boolean {
  const isNullable = Array.isArray(value) && field.keepEmpty
  if (keepsEmpty(field) && !isNullable) return false
  if (field.type === 'intOrString' || field.type === 'rawExtension' || field.type === 'fieldsV1') return false
  if (value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof field.type === 'object' && field.type.kind === 'map' && Object.keys(value as object).length === 0
}

const lastName = ({ names }: Place): string => names.slice(names.lastIndexOf('.') + 1)

const goName = (name: string): string => name.split('.').slice(-2).join('.')

function typeName(type: Type, place: Place): string {
  if (type === 'string') return goTextType(place.struct, lastName(place))
  if (typeof type === 'string')
    return (
      { double: 'float64', bytes: '[]uint8', time: 'string', quantity: 'resource.Quantity' }[type as 'time'] ?? type
    )
  if (type.kind === 'message') return goName(type.name)
  if (type.kind === 'list') return goListType(place.struct, lastName(place)) ?? `[]${typeName(type.element, place)}`
  return type.value === 'quantity' ? 'v1.ResourceList' : `map[string]${typeName(type.value, place)}`
}

const mismatch = (
  value: unknown,
  wanted: string,
  { struct, names }: Place,
  kind: string = jsonKind(value),
): DecodeError =>
  new DecodeError(`json: cannot unmarshal ${kind} into Go struct field ${struct}.${names} of type ${wanted}`)
