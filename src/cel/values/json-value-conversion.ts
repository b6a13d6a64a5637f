// Conversion between JSON and values: a schema determines the types of texts and numbers; without one integers are ints.
import { lookup } from '../../base/collections/lookup.ts'
import { dynType, type CelType, type ObjectType } from '../types/cel-type.ts'
import { MapValue, Optional, Uint, type Value } from './value.ts'
import { MapList, SetList } from './keyed-lists.ts'
import { Duration, Timestamp } from './time-values.ts'
import { EvalError } from './eval-error.ts'

export function fromJson(json: unknown, type: CelType = dynType): Value {
  switch (typeof json) {
    case 'string':
      return textValue(json, type)
    case 'number':
      return type.kind !== 'double' && Number.isInteger(json) ? BigInt(json) : json
    case 'boolean':
    case 'bigint':
      return json
    case 'object':
      if (json === null) return null
      if (Array.isArray(json)) return listValue(json, type)
      // An object that is not a list is a map of its members.
      return new JsonMap(json as Readonly<Record<string, unknown>>, type)
    default:
      throw new EvalError(`unsupported type: ${typeof json}`)
  }
}

/**
 * A JSON object whose members are converted when they are read. Lists and objects are converted once, because a loop may read
 * them many times. Of an object with a schema, only the declared members exist, and null is absent.
 */
export class JsonMap extends MapValue {
  readonly #raw: Readonly<Record<string, unknown>>
  readonly #type: ObjectType | CelType
  #converted: Map<string, Value> | undefined
  #keys: readonly string[] | undefined

  /** The type of the object, or of every value of a map. */
  constructor(raw: Readonly<Record<string, unknown>>, type: ObjectType | CelType) {
    super()
    this.#raw = raw
    this.#type = type
  }

  get size(): number {
    return this.keys().length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const type = this.#type
    if (type.kind === 'object') {
      const field = type.fields.get(key)
      const value = field === undefined ? undefined : lookup(this.#raw, field.jsonName)
      return field === undefined || value === undefined || value === null
        ? undefined
        : this.#value(key, value, field.type)
    }
    const value = lookup(this.#raw, key)
    return value === undefined ? undefined : this.#value(key, value, type.kind === 'map' ? type.value : dynType)
  }

  #value(key: string, value: unknown, type: CelType): Value {
    if (typeof value !== 'object' || value === null) return fromJson(value, type)
    const known = this.#converted?.get(key)
    if (known !== undefined) return known
    const converted = fromJson(value, type)
    this.#converted ??= new Map()
    this.#converted.set(key, converted)
    return converted
  }

  keys(): readonly string[] {
    return (this.#keys ??= this.#presentKeys())
  }

  #presentKeys(): readonly string[] {
    const type = this.#type
    if (type.kind !== 'object') return Object.keys(this.#raw).filter((name) => lookup(this.#raw, name) !== undefined)
    return [...type.fields].flatMap(([name, { jsonName }]) =>
      (lookup(this.#raw, jsonName) ?? null) === null ? [] : [name],
    )
  }
}

function textValue(text: string, { kind }: CelType): Value {
  switch (kind) {
    case 'timestamp':
      return Timestamp.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
    case 'duration':
      return Duration.parse(text)
    case 'bytes':
      return Uint8Array.fromBase64(text)
    default:
      return text
  }
}

/** Lists whose elements need no conversion are not copied. */
const plainKinds = new Set(['string', 'bool'])

function listValue(json: readonly unknown[], type: CelType): Value {
  if (type.kind !== 'list') return json.map((each) => fromJson(each))
  const { element, isSet = false, mapKeys } = type
  // The elements have the type of the schema, because the object was validated.
  const values = plainKinds.has(element.kind) ? (json as readonly Value[]) : json.map((each) => fromJson(each, element))
  if (isSet) return SetList.from(values)
  return mapKeys === undefined ? values : MapList.keyed(values, mapKeys)
}

/** A value as JSON; throws for values that JSON cannot represent. */
export function toJson(value: Value): unknown {
  if (typeof value === 'bigint') return jsonNumber(value)
  if (value instanceof Uint) return jsonNumber(value.value)
  if (value instanceof Uint8Array) return value.toBase64()
  if (value instanceof Timestamp || value instanceof Duration) return value.toString()
  if (value instanceof Optional) return value.value === undefined ? undefined : toJson(value.value)
  if (Array.isArray(value)) return value.map((each: Value) => toJson(each))
  if (value instanceof MapValue)
    return Object.fromEntries([...value.keys()].map((key) => [jsonKey(key), toJson(value.get(key) ?? null)]))
  if (value === null || typeof value !== 'object') return value
  throw new EvalError('unsupported conversion to JSON')
}

function jsonKey(key: Value): string {
  if (typeof key === 'string') return key
  throw new EvalError('unsupported key type in JSON')
}

/** Larger integers are written as strings, because readers of JSON lose their precision. */
const jsonNumber = (value: bigint): number | string =>
  value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER) ? String(value) : Number(value)
