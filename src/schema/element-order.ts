// element-order: the order of a list after a strategic merge: the items that the patch names come in its order, the
// others in theirs; where both were in the list before, its old order decides which comes first.
import { equalValues, isJsonObject, type JsonValue } from './json-value.ts'

/** `key` tells objects apart; '' compares the items themselves. */
export function orderedBy(
  items: readonly JsonValue[],
  order: readonly JsonValue[],
  before: readonly JsonValue[],
  key: string,
): JsonValue[] {
  const idOf = (item: JsonValue) => (key !== '' && isJsonObject(item) ? item[key] : item)
  const placeIn = (list: readonly JsonValue[]) => {
    const ids = list.map(idOf)
    return (item: JsonValue): number => {
      const id = idOf(item)
      return typeof id === 'string' ? ids.indexOf(id) : ids.findIndex((other) => equalValues(other, id))
    }
  }
  const wanted = placeIn(order)
  if (isInOrder(items.map(wanted))) return [...items]
  const was = placeIn(before)
  const named = items.filter((item) => wanted(item) >= 0).toSorted((a, b) => wanted(a) - wanted(b))
  const others = items.filter((item) => wanted(item) < 0).toSorted((a, b) => was(a) - was(b))
  const merged: JsonValue[] = []
  let next = 0
  for (const item of named) {
    // An item that was not there before says nothing about the place of the others.
    const place = was(item)
    for (let other = others[next]; other !== undefined && was(other) >= 0 && was(other) < place; other = others[++next])
      merged.push(other)
    merged.push(item)
  }
  return [...merged, ...others.slice(next)]
}

/** Whether all of them have places, and stand in their order. */
const isInOrder = (places: readonly number[]): boolean =>
  places.every((place, index) => place >= (index === 0 ? 0 : (places[index - 1] ?? 0)))
