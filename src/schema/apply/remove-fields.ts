// remove-fields: an object without the fields of a set, including everything below them.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { childStructure } from './compare.ts'
import { emptySet, isEmptySet, withSelf, type FieldSet } from './field-set.ts'
import { itemElement } from './item-element.ts'
import { fieldElement, self } from './path-element.ts'
import type { Structure } from './structure.ts'

export const removeFields = (structure: Structure, object: JsonObject, fields: FieldSet): JsonObject =>
  isEmptySet(fields) ? object : (removeFrom(structure, object, fields) as JsonObject)

/** A list or an object that loses all its content becomes null, because its field still exists. */
function removeFrom(structure: Structure, value: JsonValue, fields: FieldSet): JsonValue {
  if (Array.isArray(value)) {
    if (structure.kind !== 'list' || structure.listType === 'atomic') return value
    const kept = value.flatMap((item: JsonValue) => {
      const left = without(structure.element, item, lookup(fields, itemElement(structure, item) ?? ''))
      return left === undefined ? [] : [left]
    })
    return kept.length > 0 ? kept : null
  }
  if (!isJsonObject(value)) return value
  const kept: Record<string, JsonValue> = {}
  for (const name in value) {
    const child = childStructure(structure, name)
    const item = value[name]
    if (item === undefined) continue
    const left = child === undefined ? item : without(child, item, lookup(fields, fieldElement(name)))
    if (left !== undefined) setOwn(kept, name, left)
  }
  return isEmptySet(kept as object as FieldSet) ? null : kept
}

const without = (structure: Structure, value: JsonValue, node: FieldSet | undefined): JsonValue | undefined => {
  if (node === undefined) return value
  return self in node || isEmptySet(node) ? undefined : removeFrom(structure, value, node)
}

/** The set with every struct on the way to its paths: the owner of a field also owns the structs around it. */
export function withStructs(structure: Structure, fields: FieldSet): FieldSet {
  const node: Record<string, FieldSet> = {}
  for (const element in fields) {
    const child = fields[element] ?? emptySet
    if (isEmptySet(child)) {
      setOwn(node, element, child)
      continue
    }
    const name = element.slice(2)
    const isField = element.startsWith('f:')
    const inner = isField ? childStructure(structure, name) : structure.kind === 'list' ? structure.element : undefined
    const closed = inner === undefined ? child : withStructs(inner, child)
    setOwn(node, element, isField && structure.kind === 'struct' && inner !== undefined ? withSelf(closed) : closed)
  }
  return node
}
