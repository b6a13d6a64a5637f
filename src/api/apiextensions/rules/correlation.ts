// Correlation: the old value that corresponds to a value of an object. Items of a list of type map correspond by their keys,
// members of an object by their names; items of other lists have no corresponding value.
import { lookup } from '../../../base/collections/lookup.ts'
import {
  equalValues,
  identityOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

/** A list of the values of the keys, for a Map. */
function keyOf(
  item: JsonValue,
  keys: readonly string[],
  properties: JsonSchemaProps['properties'],
): string | undefined {
  if (!isJsonObject(item)) return undefined
  return JSON.stringify(
    keys.map((key) => {
      const value = lookup(item, key) ?? (lookup(properties, key)?.default as JsonValue | undefined)
      return String(identityOf(value))
    }),
  )
}

/** Finds the old item of an item; undefined for lists whose items do not correspond. */
export function oldItems(
  schema: JsonSchemaProps,
  old: readonly JsonValue[],
): ((item: JsonValue) => JsonValue | undefined) | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (schema['x-kubernetes-list-type'] !== 'map' || keys.length === 0) return undefined
  const properties = (schema.items as JsonSchemaProps | undefined)?.properties
  const byKey = new Map<string, JsonValue>()
  for (const item of old) {
    const key = keyOf(item, keys, properties)
    // Of several items with the same keys, upstream finds the first one.
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  return (item) => {
    const key = keyOf(item, keys, properties)
    return key === undefined ? undefined : byKey.get(key)
  }
}

/** Members of an atomic map do not correspond. */
export const isMapCorrelatable = (schema: JsonSchemaProps): boolean =>
  (schema['x-kubernetes-map-type'] ?? 'granular') === 'granular'

/** Deep equality; the order of a list of type map does not matter. */
function isUnchanged(schema: JsonSchemaProps, value: JsonValue | undefined, old: JsonValue | undefined): boolean {
  if (equalValues(value, old)) return true
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value) && Array.isArray(old) && isJsonObject(items)) {
    const list = value as readonly JsonValue[]
    const oldItemOf = oldItems(schema, old as readonly JsonValue[])
    return (
      list.length === old.length &&
      oldItemOf !== undefined &&
      list.every((item) => isUnchanged(items, item, oldItemOf(item)))
    )
  }
  if (!isJsonObject(value) || !isJsonObject(old)) return false
  const names = Object.keys(value)
  return (
    names.length === Object.keys(old).length &&
    names.every((name) => {
      const member = lookup(properties, name) ?? additionalProperties
      const now = lookup(value, name)
      const before = lookup(old, name)
      return typeof member === 'object' ? isUnchanged(member, now, before) : equalValues(now, before)
    })
  )
}

export class Correlation {
  readonly #schema: JsonSchemaProps
  readonly #value: JsonValue | undefined
  readonly #old: JsonValue | undefined
  #isEqual: boolean | undefined
  #oldItemOf: ((item: JsonValue) => JsonValue | undefined) | undefined

  constructor(schema: JsonSchemaProps, value: JsonValue | undefined, old: JsonValue | undefined) {
    this.#schema = schema
    this.#value = value
    this.#old = old
  }

  get isEqual(): boolean {
    return (this.#isEqual ??= isUnchanged(this.#schema, this.#value, this.#old))
  }

  item(index: number): Correlation | undefined {
    const { items } = this.#schema
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old) || !isJsonObject(items)) return undefined
    this.#oldItemOf ??= oldItems(this.#schema, this.#old as readonly JsonValue[])
    const value = (this.#value as readonly JsonValue[])[index]
    const old = value === undefined ? undefined : this.#oldItemOf?.(value)
    return old === undefined ? undefined : new Correlation(items, value, old)
  }

  member(name: string): Correlation | undefined {
    const { properties, additionalProperties } = this.#schema
    const schema = lookup(properties, name) ?? additionalProperties
    if (!isJsonObject(this.#value) || !isJsonObject(this.#old) || typeof schema !== 'object') return undefined
    const value = lookup<JsonObject[string]>(this.#value, name)
    const old = lookup<JsonObject[string]>(this.#old, name)
    return new Correlation(schema, value, old)
  }
}
