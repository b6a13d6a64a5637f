// Defaulting: fills in the defaults of a structural schema, and removes null where the schema does not allow it.
import { setOwn } from '../../../base/collections/lookup.ts'
import type { JsonObject, JsonValue } from '../../../schema/json/json-value.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * Defaults are filled in from the outside inwards, also inside of defaults. `keepsNull`: a null that is not allowed stays
 * where there is no default. Returns the same value when nothing changed.
 */
export function withDefaults(value: JsonValue, node: SchemaNode, keepsNull: boolean): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value)
    ? listWithDefaults(value as readonly JsonValue[], node, keepsNull)
    : objectWithDefaults(value as JsonObject, node, keepsNull)
}

function objectWithDefaults(object: JsonObject, node: SchemaNode, keepsNull: boolean): JsonObject {
  let copy: Record<string, JsonValue | undefined> | undefined
  for (const [name, child] of node.defaults)
    if (!Object.hasOwn(object, name)) setOwn((copy ??= { ...object }), name, completeDefault(child))
  const source: JsonObject = copy ?? object
  for (const name in source) {
    const value = source[name] // safe name: an own property, unless a prototype was given enumerable ones
    const child = value === undefined ? undefined : node.child(name)
    if (child === undefined) continue
    const next = valueOrDefault(value as JsonValue, child, keepsNull)
    if (next === value) continue
    copy ??= { ...object }
    if (next === undefined) delete copy[name] // safe name: removes an own property only
    else setOwn(copy, name, next)
  }
  return copy ?? object
}

function listWithDefaults(list: readonly JsonValue[], { items }: SchemaNode, keepsNull: boolean): readonly JsonValue[] {
  if (items === undefined) return list
  let copy: JsonValue[] | undefined
  for (let index = 0; index < list.length; index++) {
    const value = list[index] as JsonValue
    // A null without a default stays: removing it would shift the other items.
    const next = valueOrDefault(value, items, keepsNull) ?? null
    if (next !== value) (copy ??= [...list])[index] = next
  }
  return copy ?? list
}

/** The value with its defaults; the default itself for a null that is not allowed, or undefined when there is none. */
function valueOrDefault(value: JsonValue, node: SchemaNode, keepsNull: boolean): JsonValue | undefined {
  if (value !== null || node.isNullable) return withDefaults(value, node, keepsNull)
  return completeDefault(node) ?? (keepsNull ? null : undefined)
}

/** Values are not mutated, so all objects share the default. */
function completeDefault(node: SchemaNode): JsonValue | undefined {
  if (node.default === undefined) return undefined
  return (node.completeDefault ??= withDefaults(node.default, node, false))
}
