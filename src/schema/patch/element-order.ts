// element-order: the order of a list after a strategic merge. The items that the patch names have its order, the others keep
// theirs; between the two groups the old order of the list decides.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { identityOf, isJsonObject, type JsonValue } from '../json/json-value.ts'

/** `key` identifies objects; '' compares the items themselves. */
export function mergedOrder(
  items: readonly JsonValue[],
  order: readonly JsonValue[],
  before: readonly JsonValue[],
  key: string,
): JsonValue[] {
  const idOf = (item: JsonValue) => (key !== '' && isJsonObject(item) ? lookup(item, key) : item)
  const wanted = firstIndexes(order, idOf)
  const placed = items.map((item) => ({ item, place: wanted(item) }))
  if (isInOrder(placed.map(({ place }) => place))) return [...items]
  const was = firstIndexes(before, idOf)
  const named = placed.filter(({ place }) => place >= 0).toSorted((a, b) => a.place - b.place)
  const others = items
    .filter((_, index) => (placed[index]?.place ?? -1) < 0)
    .map((item) => ({ item, place: was(item) }))
    .toSorted((a, b) => a.place - b.place)
  const merged: JsonValue[] = []
  let next = 0
  for (const { item } of named) {
    // A new item has no old position to compare with.
    const place = was(item)
    for (let other = others[next]; other !== undefined && isBefore(other.place, place); other = others[++next])
      merged.push(other.item)
    merged.push(item)
  }
  for (const { item } of others.slice(next)) merged.push(item)
  return merged
}

const isBefore = (place: number, other: number): boolean => place >= 0 && place < other

/** Returns the first index of an item in the list, or -1. */
export function firstIndexes(
  list: readonly JsonValue[],
  idOf: (item: JsonValue) => JsonValue | undefined,
): (item: JsonValue) => number {
  const places = new Map<unknown, number>()
  for (const [index, item] of list.entries()) getOrInsert(places, identityOf(idOf(item)), () => index)
  return (item) => places.get(identityOf(idOf(item))) ?? -1
}

/** Whether all of them have an index, in ascending order. */
const isInOrder = (places: readonly number[]): boolean =>
  places.every((place, index) => place >= (index === 0 ? 0 : (places[index - 1] ?? 0)))
