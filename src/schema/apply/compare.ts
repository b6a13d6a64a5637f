// compare: the fields in which two objects of one structure differ. A value that only one of them has is reported with all
// its fields.
import { lookup } from '../../base/collections/lookup.ts'
import { isInterned } from '../../base/collections/interned-values.ts'
import { equalValues, isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { emptySet, type FieldSet } from './field-set.ts'
import { orderedItems, paired } from './list-items.ts'
import { isSameItem } from './item-element.ts'
import { fieldElement } from './path-element.ts'
import { SetBuilder } from './set-builder.ts'
import { structDifferences, structNode } from './struct-fields.ts'
import { emptyStruct } from './structure.ts'
import type { AnyStructure, ListStructure, MapStructure, StructStructure, Structure } from './structure.ts'

export interface Comparison {
  /** Added or changed fields. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

type Value = JsonValue | undefined

export function compare(structure: Structure, old: object, next: object): Comparison {
  const found = new Found()
  compareValues(structure, old as JsonObject, next as JsonObject, found)
  return { changed: found.changed ?? emptySet, removed: found.removed ?? emptySet }
}

/** The result of a comparison at one node. */
class Found {
  changed: FieldSet | undefined
  removed: FieldSet | undefined
}

/** The results below a node, child by child in the order of field sets. */
class Gathered {
  #changed: SetBuilder | undefined
  #removed: SetBuilder | undefined

  /** Adds the result of a child, whose object can then be reused for the next. */
  take(element: string, found: Found): void {
    const { changed, removed } = found
    if (changed !== undefined) (this.#changed ??= new SetBuilder(false)).add(element, changed)
    if (removed !== undefined) (this.#removed ??= new SetBuilder(false)).add(element, removed)
    found.changed = found.removed = undefined
  }

  into(found: Found): void {
    found.changed = this.#changed?.set
    found.removed = this.#removed?.set
  }
}

function compareValues(structure: Structure, old: Value, next: Value, found: Found): void {
  if (old === next) return
  if (old === undefined) found.changed = presence(structure, next)
  else if (next === undefined) found.removed = presence(structure, old)
  else if (structure.kind === 'scalar' || isOneField(structure, old, next)) {
    if (!equalValues(old, next)) found.changed = emptySet
  } else if (structure.kind === 'list') compareLists(structure, asList(old), asList(next), found)
  else if (structure.kind === 'struct' && old === emptyStruct) compareFilled(structure, asObject(next), found)
  else if (structure.kind === 'struct') compareStructs(structure, asObject(old), asObject(next), found)
  else compareMaps(structure, asObject(old), asObject(next), found)
}

const nothing: JsonObject = Object.freeze({})
const noItems: readonly JsonValue[] = Object.freeze([])
const asObject = (value: Value): JsonObject => (isJsonObject(value) ? value : nothing)
const asList = (value: Value): readonly JsonValue[] => (Array.isArray(value) ? value : noItems)

/** Atomic, or empty on both sides: the field is compared as a whole, which distinguishes empty from null. */
function isOneField(structure: Structure, old: Value, next: Value): boolean {
  switch (structure.kind) {
    case 'scalar':
      return true
    case 'struct':
    case 'map':
      return structure.isAtomic || (isEmptyObject(asObject(old)) && isEmptyObject(asObject(next)))
    case 'list':
      return structure.listType === 'atomic' || (asList(old).length === 0 && asList(next).length === 0)
    case 'any':
      return !isJsonObject(old) || !isJsonObject(next) || (isEmptyObject(old) && isEmptyObject(next))
    default:
      return structure satisfies never
  }
}

function isEmptyObject(object: JsonObject): boolean {
  for (const name in object) if (object[name] !== undefined) return false
  return true
}

interface Filled {
  readonly structure: StructStructure
  readonly changed: FieldSet | undefined
}
const filledStructs = new WeakMap<JsonObject, Filled>()

/** A struct that did not exist before. The nodes of interned structs are cached. */
function compareFilled(structure: StructStructure, next: JsonObject, into: Found): void {
  let known = filledStructs.get(next)
  if (known?.structure !== structure) {
    compareStructs(structure, emptyStruct, next, into)
    known = { structure, changed: into.changed }
    if (isInterned(next)) filledStructs.set(next, known)
  }
  into.changed = known.changed
}

function compareStructs(structure: StructStructure, oldObject: JsonObject, nextObject: JsonObject, into: Found): void {
  const found = new Found()
  const gathered = new Gathered()
  structDifferences(structure)(oldObject, nextObject, (field, before, after) => {
    const [old, next] = structure.hasNulls ? [before, after] : [before ?? field.absent, after ?? field.absent]
    compareValues(field.structure, old, next, found)
    gathered.take(field.element, found)
  })
  gathered.into(into)
}

function compareMaps(structure: MapStructure | AnyStructure, old: JsonObject, next: JsonObject, into: Found): void {
  const found = new Found()
  const gathered = new Gathered()
  const value = structure.kind === 'map' ? structure.value : structure
  for (const name of namesOf(old, next)) {
    compareValues(value, lookup(old, name), lookup(next, name), found)
    gathered.take(fieldElement(name), found)
  }
  gathered.into(into)
}

function isInOrder(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) if ((names[index - 1] ?? '') > (names[index] ?? '')) return false
  return true
}

/** The names of one or two objects in order. */
function namesOf(object: JsonObject, other: JsonObject = nothing): string[] {
  const names = Object.keys(object)
  for (const name in other) if (!Object.hasOwn(object, name)) names.push(name)
  return isInOrder(names) ? names : names.toSorted()
}

function compareLists(
  structure: ListStructure,
  old: readonly JsonValue[],
  next: readonly JsonValue[],
  into: Found,
): void {
  if (isSameList(structure, old, next)) return
  const found = new Found()
  const gathered = new Gathered()
  for (const [before, after] of paired(structure, orderedItems(structure, old), orderedItems(structure, next))) {
    compareItems(structure.element, before?.values ?? noItems, after?.values ?? noItems, found)
    gathered.take((before ?? after)?.element ?? '', found)
  }
  gathered.into(into)
}

/** Most lists are unchanged; then no element is built. */
const isSameList = (structure: ListStructure, old: readonly JsonValue[], next: readonly JsonValue[]): boolean =>
  old.length === next.length &&
  old.every((item, index) => isSameItem(structure, item, next[index] ?? null) && equalValues(item, next[index]))

function compareItems(
  structure: Structure,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  found: Found,
): void {
  const wereMany = before.length > 1
  const areMany = after.length > 1
  if (wereMany && areMany) {
    if (!equalValues(before, after)) found.changed = emptySet
    return
  }
  const old = wereMany ? undefined : before[0]
  const next = areMany ? undefined : after[0]
  if (old !== undefined || next !== undefined) compareValues(structure, old, next, found)
  if (wereMany) found.removed = emptySet
  if (areMany) found.changed = emptySet
}

/** All the fields of a value that only one side has. */
function presence(structure: Structure, value: Value): FieldSet {
  if (structure.kind === 'scalar' || value === null || value === undefined || isOneField(structure, value, value))
    return emptySet
  switch (structure.kind) {
    case 'struct':
      return structNode(structure)(asObject(value), presence, true) ?? emptySet
    case 'list':
      return presenceOfList(structure, asList(value))
    default: {
      const object = asObject(value)
      const node = new SetBuilder(true)
      const inner = structure.kind === 'map' ? structure.value : structure
      for (const name of namesOf(object)) node.add(fieldElement(name), presence(inner, lookup(object, name)))
      return node.set
    }
  }
}

function presenceOfList(structure: ListStructure, items: readonly JsonValue[]): FieldSet {
  const node = new SetBuilder(true)
  for (const { element, values } of orderedItems(structure, items))
    node.add(element, values.length > 1 ? emptySet : presence(structure.element, values[0]))
  return node.set
}

/** The structure of a property; undefined when there is no such field. */
export function childStructure(structure: Structure, name: string): Structure | undefined {
  switch (structure.kind) {
    case 'struct':
      return structure.fields.get(name)?.structure ?? structure.others
    case 'map':
      return structure.value
    default:
      return structure
  }
}
