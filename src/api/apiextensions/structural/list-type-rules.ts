// List types: the items of a list with x-kubernetes-list-type set are unique, those of a map have unique keys.
import { lookup } from '../../../base/collections/lookup.ts'
import { duplicate, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import {
  identityOf,
  isJsonObject,
  withSortedKeys,
  type JsonObject,
  type JsonValue,
} from '../../../schema/json/json-value.ts'
import type { SchemaNode } from './schema-node.ts'

/** Adds the errors of all lists in a value. */
export function validateListTypes(value: JsonValue, node: SchemaNode, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) validateList(value as readonly JsonValue[], node, path, errors)
  else if (isJsonObject(value))
    for (const [name, item] of Object.entries(value)) {
      const property = node.properties.get(name)
      const child = property ?? node.additional
      if (child === undefined || typeof item !== 'object' || item === null) continue
      validateListTypes(item, child, property === undefined ? `${path}[${name}]` : joined(path, name), errors)
    }
}

export const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

function validateList(list: readonly JsonValue[], node: SchemaNode, path: string, errors: FieldError[]): void {
  const listType = node.schema['x-kubernetes-list-type']
  if (listType === 'set') reportRepeated(list, path, errors)
  else if (listType === 'map') {
    const keys = node.schema['x-kubernetes-list-map-keys'] ?? []
    const index = list.findIndex((item) => item !== null && !isJsonObject(item))
    if (index === -1)
      reportRepeated(
        list.map((item) => keysOf(item, keys)),
        path,
        errors,
      )
    else errors.push(invalid(`${path}[${index}]`, list[index], 'must be an object for an array of list-type map'))
  }
  const { items } = node
  if (items === undefined) return
  for (const [index, item] of list.entries()) validateListTypes(item, items, `${path}[${index}]`, errors)
}

/** Reports each repeated value once, at its second occurrence. */
function reportRepeated(values: readonly JsonValue[], path: string, errors: FieldError[]): void {
  const counts = new Map<unknown, number>()
  for (const [index, value] of values.entries()) {
    const id = identityOf(value)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    if (count === 2) errors.push(duplicate(`${path}[${index}]`, withSortedKeys(value)))
  }
}

/** Null has no keys, as an empty item. */
function keysOf(item: JsonValue, keys: readonly string[]): JsonObject {
  if (!isJsonObject(item)) return {}
  return Object.fromEntries(keys.flatMap((key) => (lookup(item, key) === undefined ? [] : [[key, lookup(item, key)]])))
}
