// Pruning: removes the fields that a structural schema does not declare.
import { setOwn } from '../../../base/collections/lookup.ts'
import { prependStep } from '../../../schema/decoding/decode-error.ts'
import type { JsonObject, JsonValue } from '../../../schema/json/json-value.ts'
import type { SchemaNode } from './schema-node.ts'

const resourceFields = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Removes undeclared fields. `unknown` gets their paths relative to the value, each step with its separator
 * (`.a[0].b`); the caller prepends its own step. Returns the same value when nothing was removed. Without a node,
 * nothing is declared. `keepsUnknown`: the unknown fields of the object itself are preserved.
 */
export function prune(
  value: JsonValue,
  node: SchemaNode | undefined,
  unknown: string[],
  keepsUnknown = node?.preservesUnknown === true,
): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value)
    ? prunedList(value as readonly JsonValue[], node, unknown, keepsUnknown)
    : prunedObject(value as JsonObject, node, unknown, keepsUnknown)
}

function prunedObject(
  object: JsonObject,
  node: SchemaNode | undefined,
  unknown: string[],
  keepsUnknown: boolean,
): JsonObject {
  let copy: Record<string, JsonValue | undefined> | undefined
  for (const name in object) {
    const value = object[name] // safe name: an own property, unless a prototype was given enumerable ones
    if (value === undefined || (node?.isResource && resourceFields.has(name))) continue
    const child = node?.child(name)
    if (child !== undefined || node?.schema.additionalProperties !== undefined) {
      const before = unknown.length
      const kept = prune(value, child, unknown)
      if (unknown.length !== before) prependStep(unknown, before, `.${name}`)
      if (kept !== value) setOwn((copy ??= { ...object }), name, kept)
    } else if (node === undefined || !keepsUnknown) {
      unknown.push(`.${name}`)
      copy ??= { ...object }
      delete copy[name] // safe name: removes an own property only
    }
  }
  return copy ?? object
}

/** A list that preserves unknown fields preserves those of its items. */
function prunedList(
  list: readonly JsonValue[],
  node: SchemaNode | undefined,
  unknown: string[],
  keepsUnknown: boolean,
): readonly JsonValue[] {
  const items = node?.items
  if (items === undefined && keepsUnknown) return list
  let copy: JsonValue[] | undefined
  for (let index = 0; index < list.length; index++) {
    const value = list[index] as JsonValue
    const before = unknown.length
    const kept = keepsUnknown ? prune(value, items, unknown, true) : prune(value, items, unknown)
    if (unknown.length !== before) prependStep(unknown, before, `[${index}]`)
    if (kept !== value) (copy ??= [...list])[index] = kept
  }
  return copy ?? list
}
