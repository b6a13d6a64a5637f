// compare: which fields differ between two objects of one structure. What is the same is skipped without a trace;
// what is there on one side only is named with all that it holds.
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
  /** Added, or there before with another value. */
  readonly changed: FieldSet
  readonly removed: FieldSet
}

type Value = JsonValue | undefined

export function compare(structure: Structure, old: object, next: object): Comparison {
  const found = new Found()
  compareValues(structure, old as JsonObject, next as JsonObject, found)
  return { changed: found.changed ?? emptySet, removed: found.removed ?? emptySet }
}

/** What a comparison has found at one node. */
class Found {
  changed: FieldSet | undefined
  removed: FieldSet | undefined
}

/** What was found below a node, child by child in the order of field sets. */
class Gathered {
  #changed: SetBuilder | undefined
  #removed: SetBuilder | undefined

  /** Takes over what was found at a child, which may then be used for the next. */
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

/** Atomic, or empty on both sides: then the field as a whole is compared, which tells empty from null. */
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

/** A struct that was not there before: what holds a shared value has the same node as others that hold it. */
function compareFilled(structure: StructStructure, next: JsonObject, into: Found): void {
  let known = filledStructs.get(next)
  if (known?.structure !== structure) {
    compareStructs(structure, emptyStruct, next, into)
    known = { structure, changed: into.changed }
    if (isInterned(next)) filledStructs.set(next, known)
  }
  into.changed = known.changed
}

function compareStructs(structure: StructStructure, old: JsonObject, next: JsonObject, into: Found): void {
  const [found, gathered] = [new Found(), new Gathered()]
  structDifferences(structure)(old, next, (field, before, after) => {
    compareValues(field.structure, before ?? field.absent, after ?? field.absent, found)
    gathered.take(field.element, found)
  })
  gathered.into(into)
}

function compareMaps(structure: MapStructure | AnyStructure, old: JsonObject, next: JsonObject, into: Found): void {
  const [found, gathered] = [new Found(), new Gathered()]
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

/** The names of one object, or of two, in their order. */
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
  const [found, gathered] = [new Found(), new Gathered()]
  for (const [before, after] of paired(structure, orderedItems(structure, old), orderedItems(structure, next))) {
    compareItems(structure.element, before?.values ?? noItems, after?.values ?? noItems, found)
    gathered.take((before ?? after)?.element ?? '', found)
  }
  gathered.into(into)
}

/** Most lists did not change; then no element need be written. */
const isSameList = (structure: ListStructure, old: readonly JsonValue[], next: readonly JsonValue[]): boolean =>
  old.length === next.length &&
  old.every((item, index) => isSameItem(structure, item, next[index] ?? null) && equalValues(item, next[index]))

function compareItems(
  structure: Structure,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  found: Found,
): void {
  const [wereMany, areMany] = [before.length > 1, after.length > 1]
  if (wereMany && areMany) {
    if (!equalValues(before, after)) found.changed = emptySet
    return
  }
  const [old, next] = [wereMany ? undefined : before[0], areMany ? undefined : after[0]]
  if (old !== undefined || next !== undefined) compareValues(structure, old, next, found)
  if (wereMany) found.removed = emptySet
  if (areMany) found.changed = emptySet
}

/** All the fields of a value that is there on one side only. */
function presence(structure: Structure, value: Value): FieldSet {
  if (structure.kind === 'scalar' || value === null || value === undefined || isOneField(structure, value, value))
    return emptySet
  switch (structure.kind) {
    case 'struct':
      return structNode(structure)(asObject(value), presence, true) ?? emptySet
    case 'list':
      return presenceOfList(structure, asList(value))
    default: {
      const [object, node] = [asObject(value), new SetBuilder(true)]
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

/** How the named property of an object is structured; undefined when there is no such field. */
export function childStructure(structure: Structure, name: string): Structure | undefined {
  switch (structure.kind) {
    case 'struct':
      return structure.fields.get(name)?.structure
    case 'map':
      return structure.value
    default:
      return structure
  }
}
