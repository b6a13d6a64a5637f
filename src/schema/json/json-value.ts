// JSON values: their type, deep comparison, and Go's names of their types in errors.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { jsonText } from './exact-json.ts'

/** An int64 that a double does not represent exactly is a bigint (exact-json.ts). */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Deep equality; an undefined property counts as absent. With `nullIsAbsent` so does null, because the server writes null for
 * fields that a client omits.
 */
export function equalValues(a: unknown, b: unknown, nullIsAbsent = false): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => equalValues(item, b[index], nullIsAbsent))
    )
  const left = a as JsonObject
  const right = b as JsonObject
  const absent = nullIsAbsent ? null : undefined
  let extra = 0
  for (const name in left) if (left[name] !== undefined && left[name] !== absent) extra++
  for (const name in right) {
    if (right[name] === undefined || right[name] === absent) continue
    if (!equalValues(lookup(left, name), right[name], nullIsAbsent)) return false
    extra--
  }
  return extra === 0
}

/**
 * A key for Map and Set: equal for two values if and only if `equalValues` holds for them. Comparing each item of a list with
 * all others would take quadratic time.
 */
export function identityOf(value: JsonValue | undefined): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? canonicalText(value) : value
}

function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(canonicalText).join(',')}]`
  if (!isJsonObject(value)) return jsonText(value)
  const names = Object.keys(value).toSorted()
  const entries = names.flatMap((name) => {
    const item = lookup(value, name)
    return item === undefined ? [] : [`${JSON.stringify(name)}:${canonicalText(item)}`]
  })
  return `{${entries.join(',')}}`
}

/** Deep equality of two objects, except for one property. */
export function equalExcept<T extends object>(a: T, b: T, ignored: keyof T, nullIsAbsent = false): boolean {
  if (a === b) return true
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  const isAbsent = (value: unknown) => value === undefined || (nullIsAbsent && value === null)
  for (const name in left)
    if (name !== ignored && !isAbsent(left[name]) && !equalValues(left[name], lookup(right, name), nullIsAbsent))
      return false
  for (const name in right) if (name !== ignored && !isAbsent(right[name]) && isAbsent(lookup(left, name))) return false
  return true
}

/** A copy without the property, or the same object when it has none. */
export function without<T extends object, Name extends keyof T>(object: T, name: Name): Omit<T, Name> {
  if (!(name in object)) return object
  const { [name]: _, ...rest } = object
  return rest
}

/** A deep copy that shares nothing with the value. */
export function deepCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deepCopy)
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, deepCopy(item)]))
    : value
}

/** The same value with the keys of all objects sorted, as Go writes maps. */
export function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(withSortedKeys)
  if (!isJsonObject(value)) return value
  const sorted: Record<string, JsonValue> = {}
  for (const name of Object.keys(value).toSorted()) {
    const item = lookup(value, name)
    if (item !== undefined) setOwn(sorted, name, withSortedKeys(item))
  }
  return sorted
}

/** The name of a value's type in errors of Go's JSON decoder. */
export function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
