// list-items: the items of a list with their path elements, in the order of field sets.
import { lookup } from '../../base/collections/lookup.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import { itemElement } from './item-element.ts'
import type { ListStructure } from './structure.ts'
import { jsonText } from '../json/exact-json.ts'

export interface ListItem {
  readonly element: string
  /** More than one value when items have the same element: they are one field together. */
  readonly values: readonly JsonValue[]
}

/** In the order of field sets; items without an element are omitted. */
export function orderedItems(structure: ListStructure, items: readonly JsonValue[]): readonly ListItem[] {
  const found: ListItem[] = []
  for (const value of items) {
    const element = itemElement(structure, value)
    if (element === undefined) continue
    const last = found.at(-1)
    if (last !== undefined && compareItems(structure, firstOf(last), value) >= 0) return sortedItems(structure, items)
    found.push({ element, values: [value] })
  }
  return found
}

const firstOf = ({ values }: ListItem): JsonValue => values[0] ?? null

/** Items with the same element become one. */
function sortedItems(structure: ListStructure, items: readonly JsonValue[]): ListItem[] {
  const valuesOf = new Map<string, JsonValue[]>()
  for (const value of items) {
    const element = itemElement(structure, value)
    if (element === undefined) continue
    const values = valuesOf.get(element)
    if (values === undefined) valuesOf.set(element, [value])
    else values.push(value)
  }
  return Array.from(valuesOf, ([element, values]) => ({ element, values })).toSorted((a, b) =>
    compareItems(structure, firstOf(a), firstOf(b)),
  )
}

/** The items of two lists in pairs of the same element. */
export function* paired(
  structure: ListStructure,
  left: readonly ListItem[],
  right: readonly ListItem[],
): Generator<readonly [ListItem | undefined, ListItem | undefined]> {
  let i = 0
  let k = 0
  while (i < left.length || k < right.length) {
    const a = left[i]
    const b = right[k]
    const order =
      a === undefined
        ? 1
        : b === undefined
          ? -1
          : a.element === b.element
            ? 0
            : compareItems(structure, firstOf(a), firstOf(b))
    if (order <= 0) i++
    if (order >= 0) k++
    yield [order <= 0 ? a : undefined, order >= 0 ? b : undefined]
  }
}

/** The order of compareElements, without parsing the elements. */
function compareItems({ listType, keys }: ListStructure, a: JsonValue, b: JsonValue): number {
  if (listType === 'set') return compareScalars(a, b)
  for (const { name, default: otherwise } of keys) {
    const order = compareScalars(lookup(a as JsonObject, name) ?? otherwise, lookup(b as JsonObject, name) ?? otherwise)
    if (order !== 0) return order
  }
  return 0
}

function compareScalars(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : 1
  const [left, right] = typeof a === 'string' && typeof b === 'string' ? [a, b] : [jsonText(a), jsonText(b)]
  return left === right ? 0 : (left ?? '') < (right ?? '') ? -1 : 1
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'
