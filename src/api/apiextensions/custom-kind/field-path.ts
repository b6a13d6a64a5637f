// Paths of single fields in a definition: `.spec.replicas`. They have names only, no indexes and no wildcards.
import { lookup, setOwn } from '../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../schema/json/json-value.ts'

export type FieldPath = readonly string[]

export const fieldPathOf = (text: string): FieldPath => text.split('.').filter((name) => name !== '')

export function valueAt(object: JsonObject, path: FieldPath): JsonValue | undefined {
  let value: JsonValue | undefined = object
  for (const name of path) {
    if (!isJsonObject(value)) return undefined
    value = lookup(value, name)
  }
  return value
}

/** A copy of the object with the value at the path; the objects on the way are created. */
export function withValueAt(object: JsonObject, [name, ...rest]: FieldPath, value: JsonValue): JsonObject {
  if (name === undefined) return object
  const copy: Record<string, JsonValue | undefined> = { ...object }
  const inner = lookup(object, name)
  setOwn(copy, name, rest.length === 0 ? value : withValueAt(isJsonObject(inner) ? inner : {}, rest, value))
  return copy
}
