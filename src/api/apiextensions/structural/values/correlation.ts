// Correlation: which old value a value replaces, and whether it is unchanged. Errors in unchanged values are accepted
// (ratcheting). As upstream, objects with fields that the schema does not declare never count as unchanged.
import { lookup } from '../../../../base/collections/lookup.ts'
import {
  equalValues,
  identityOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import { jsonText } from '../../../../schema/json/exact-json.ts'

/** The schema of a property that is declared by name or by additionalProperties. */
export function propertySchema(
  { properties, additionalProperties: additional }: JsonSchemaProps,
  name: string,
): JsonSchemaProps | undefined {
  return lookup(properties, name) ?? (typeof additional === 'object' ? additional : undefined)
}

export function isUnchanged(
  schema: JsonSchemaProps | undefined,
  value: JsonValue,
  old: JsonValue | undefined,
): boolean {
  if (schema === undefined || old === undefined) return false
  if (Array.isArray(value)) return Array.isArray(old) && isListUnchanged(schema, value, old)
  return isJsonObject(value) ? isJsonObject(old) && isObjectUnchanged(schema, value, old) : value === old
}

function isObjectUnchanged(schema: JsonSchemaProps, value: JsonObject, old: JsonObject): boolean {
  const names = Object.keys(value)
  return (
    names.length === Object.keys(old).length &&
    names.every((name) =>
      isUnchanged(propertySchema(schema, name), lookup(value, name) as JsonValue, lookup(old, name)),
    )
  )
}

/** The order of a list with keys does not matter. */
function isListUnchanged(schema: JsonSchemaProps, list: readonly JsonValue[], old: readonly JsonValue[]): boolean {
  if (list.length !== old.length) return false
  const oldItems = correlateItems(schema, list, old)
  if (oldItems === undefined) return equalValues(list, old)
  return list.every((item, index) => isUnchanged(schema.items as JsonSchemaProps, item, oldItems[index]))
}

/** For each item of a list the old item with the same keys; undefined for lists without keys. */
export function correlateItems(
  schema: JsonSchemaProps,
  list: readonly JsonValue[],
  old: JsonValue | undefined,
): readonly (JsonValue | undefined)[] | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const byId = new Map((old as readonly JsonValue[]).map((item) => [idOf(item, keys), item]))
  return list.map((item) => {
    const id = idOf(item, keys)
    return id === undefined ? undefined : byId.get(id)
  })
}

/** The identity of an item; undefined when it lacks a key. */
function idOf(item: JsonValue, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item) || keys.some((key) => lookup(item, key) === undefined)) return undefined
  return jsonText(keys.map((key) => identityOf(lookup(item, key))))
}
