// Functions that visit JSON values and report the number of visits, so that a caller can bound their total work.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts'

export type Container = readonly JsonValue[] | JsonObject

/** Called with the number of values that are visited next. It throws when there are too many. */
export type Visit = (count: number) => void

export const isContainer = (value: JsonValue | undefined): value is Container =>
  isJsonObject(value) || Array.isArray(value)

/** Deep equality, like `equalValues`. */
export function equalBounded(a: JsonValue | undefined, b: JsonValue | undefined, visit: Visit): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false
    visit(a.length)
    return a.every((item: JsonValue, index) => equalBounded(item, (b as readonly JsonValue[])[index], visit))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const left = presentNames(a)
  const right = presentNames(b)
  visit(left.length + right.length + 1)
  return left.length === right.length && right.every((name) => equalBounded(lookup(a, name), lookup(b, name), visit))
}

const presentNames = (object: JsonObject): readonly string[] =>
  Object.keys(object).filter((name) => lookup(object, name) !== undefined)

/** Whether containers nest deeper than this number of levels. The recursion is bounded by it. */
export function isDeeperThan(value: JsonValue | undefined, levels: number, visit: Visit): boolean {
  if (!isContainer(value)) return false
  if (levels <= 0) return true
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : Object.values(value as JsonObject)
  visit(items.length)
  return items.some((item) => isDeeperThan(item, levels - 1, visit))
}
