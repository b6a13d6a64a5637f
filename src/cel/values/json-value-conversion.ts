// Conversion between JSON and values: a schema determines the types of texts and numbers; without one integers are ints.
import { lookup } from '../../base/collections/lookup.ts'
import { dynType, type CelType, type ObjectType } from '../types/cel-type.ts'
import { MapValue, Optional, Uint, type Value } from './value.ts'
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

/** A JSON object whose members are converted when they are read. */
export class JsonMap extends MapValue {
  readonly #raw: Readonly<Record<string, unknown>>
  readonly #type: ObjectType | CelType

  /** The type of the object, or of every value of a map. */
  constructor(raw: Readonly<Record<string, unknown>>, type: ObjectType | CelType) {
    super()
    this.#raw = raw
    this.#type = type
  }

  get size(): number {
    return Object.keys(this.#raw).length
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const type = this.#type
    const field = type.kind === 'object' ? type.fields.get(key) : undefined
    const name = field?.jsonName ?? key
    if (!Object.hasOwn(this.#raw, name)) return undefined
    const value = lookup(this.#raw, name)
    return value === undefined
      ? undefined
      : fromJson(value, field?.type ?? (type.kind === 'map' ? type.value : undefined))
  }

  keys(): Iterable<Value> {
    return Object.keys(this.#raw).filter((name) => lookup(this.#raw, name) !== undefined)
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
  const element = type.kind === 'list' ? type.element : dynType
  // The elements have the type of the schema, because the object was validated.
  if (plainKinds.has(element.kind)) return json as readonly Value[]
  return json.map((each) => fromJson(each, element))
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
