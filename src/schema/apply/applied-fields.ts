// applied-fields: the fields that an applied configuration sets, and thereby owns.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { emptySet, isEmptySet, type FieldSet } from './field-set.ts'
import { orderedItems } from './list-items.ts'
import { fieldElement } from './path-element.ts'
import { SetBuilder } from './set-builder.ts'
import { structNode } from './struct-fields.ts'
import type { AnyStructure, ListStructure, MapStructure, Structure, StructStructure } from './structure.ts'

export const appliedFields = (structure: StructStructure, applied: JsonObject): FieldSet =>
  structNode(structure)(applied, claimed, false) ?? emptySet

/** The node of a value; undefined when it owns nothing, such as an empty list. */
const claimed = (structure: Structure, value: JsonValue, isEntry = false): FieldSet | undefined =>
  isEntry ? claimedItself(structure, value) : claims(structure, value, false)

/** An entry of a map or an item of a list is owned itself; a field of a struct only through its content. */
const claimedItself = (structure: Structure, value: JsonValue): FieldSet => claims(structure, value, true) ?? emptySet

function claims(structure: Structure, value: JsonValue, isMember: boolean): FieldSet | undefined {
  if (value === null) return emptySet
  switch (structure.kind) {
    case 'scalar':
      return emptySet
    case 'struct':
      if (structure.isAtomic || isEmpty(value)) return emptySet
      return isJsonObject(value) ? structNode(structure)(value, claimed, isMember) : undefined
    case 'map':
      return structure.isAtomic
        ? emptySet
        : isJsonObject(value)
          ? claimedEntries(structure, value, isMember)
          : undefined
    case 'list':
      if (structure.listType === 'atomic') return emptySet
      return Array.isArray(value) ? claimedItems(structure, value, isMember) : undefined
    case 'any':
      return isJsonObject(value) ? claimedEntries(structure, value, isMember) : emptySet
    default:
      return structure satisfies never
  }
}

const isEmpty = (value: JsonValue): boolean => isJsonObject(value) && isEmptySet(value as object as FieldSet)

function claimedEntries(structure: MapStructure | AnyStructure, object: JsonObject, isMember: boolean): FieldSet {
  if (isEmpty(object)) return emptySet
  const node = new SetBuilder(isMember)
  const inner = structure.kind === 'map' ? structure.value : structure
  for (const name of Object.keys(object).toSorted())
    node.add(fieldElement(name), claimedItself(inner, lookup(object, name) ?? null))
  return node.set
}

function claimedItems(structure: ListStructure, items: readonly JsonValue[], isMember: boolean): FieldSet | undefined {
  const found = orderedItems(structure, items)
  if (found.length === 0) return undefined
  const node = new SetBuilder(isMember)
  for (const { element, values } of found)
    node.add(element, values.length > 1 ? emptySet : claimedItself(structure.element, values[0] ?? null))
  return node.set
}
