// typed-merge: merges an applied configuration into the live object, by the structure of its type.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts'
import { childStructure } from './compare.ts'
import { isSameItem, itemElement } from './item-element.ts'
import type { ListStructure, Structure } from './structure.ts'

/** Applied values replace live ones; other live values remain. The result may share values with both sides. */
export const typedMerge = (structure: Structure, live: JsonObject, applied: JsonObject): JsonObject =>
  mergeValues(structure, live, applied) as JsonObject

function mergeValues(structure: Structure, live: JsonValue | undefined, applied: JsonValue): JsonValue {
  if (live === undefined) return applied
  switch (structure.kind) {
    case 'scalar':
      return applied
    case 'struct':
    case 'map':
      return structure.isAtomic ? applied : mergeObjects(structure, live, applied)
    case 'list':
      if (structure.listType === 'atomic' || !isFilledList(live)) return applied
      return isFilledList(applied) ? mergeLists(structure, live, applied) : live
    case 'any':
      return isJsonObject(live) && isJsonObject(applied) ? mergeObjects(structure, live, applied) : applied
    default:
      return structure satisfies never
  }
}

const isFilledList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value) && value.length > 0

function mergeObjects(structure: Structure, live: JsonValue, applied: JsonValue): JsonValue {
  if (!isJsonObject(live) || Object.keys(live).length === 0) return applied
  if (!isJsonObject(applied)) return live
  let merged: Record<string, JsonValue | undefined> | undefined
  for (const name in applied) {
    const value = applied[name]
    if (value === undefined) continue
    const child = childStructure(structure, name)
    const next = child === undefined ? value : mergeValues(child, lookup(live, name), value)
    if (next !== lookup(live, name)) setOwn((merged ??= { ...live }), name, next)
  }
  return merged ?? live
}

function mergeLists(
  structure: ListStructure,
  live: readonly JsonValue[],
  applied: readonly JsonValue[],
): readonly JsonValue[] {
  const isSameOrder =
    live.length === applied.length && live.every((item, index) => isSameItem(structure, item, applied[index] ?? null))
  if (!isSameOrder) return interleaved(structure, live, applied)
  const merged = live.map((item, index) => mergeValues(structure.element, item, applied[index] ?? null))
  return merged.some((item, index) => item !== live[index]) ? merged : live
}

// The applied items keep their order; a live item that was not applied stays after its predecessor.
function interleaved(
  structure: ListStructure,
  live: readonly JsonValue[],
  applied: readonly JsonValue[],
): readonly JsonValue[] {
  const liveItems = byElement(structure, live)
  const appliedItems = byElement(structure, applied)
  const wanted = [...appliedItems.keys()]
  const shared = wanted.filter((element) => liveItems.has(element))
  const merged: JsonValue[] = []
  const taken = new Set<string>()
  let place = 0
  let nextShared = 0
  const take = (element: string): void => {
    taken.add(element)
    merged.push(mergeValues(structure.element, liveItems.get(element), appliedItems.get(element) ?? null))
    if (shared[nextShared] === element) nextShared++
  }
  for (const item of live) {
    const element = itemElement(structure, item)
    if (element === undefined || !appliedItems.has(element)) {
      merged.push(item)
      continue
    }
    if (taken.has(element) || (nextShared < shared.length && shared[nextShared] !== element)) continue
    while (place < wanted.length && !taken.has(element)) take(wanted[place++] ?? '')
  }
  for (const element of wanted.slice(place)) take(element)
  return merged
}

/** Items with the same element are not merged, because they cannot be distinguished. */
function byElement(structure: ListStructure, items: readonly JsonValue[]): Map<string, JsonValue | undefined> {
  const found = new Map<string, JsonValue | undefined>()
  for (const item of items) {
    const element = itemElement(structure, item)
    if (element !== undefined) found.set(element, found.has(element) ? undefined : item)
  }
  return found
}
