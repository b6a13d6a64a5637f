// fieldPresence: whether a decoded value is one, or the same as no value.
import type { Field, Type } from '../descriptor/field.ts'
import { keepsEmpty } from '../descriptor/zero.ts'

/** always: every value is one; nonZero, nonEmptyList, nonEmptyMap: zero and empty values are the same as no value. */
export type FieldPresence = 'always' | 'nonZero' | 'nonEmptyList' | 'nonEmptyMap'

/**
 * An empty, zero or false value of a Go field by value with omitempty is the same as no value. So is an empty list
 * that is null when it is unset: the form in which upstream stores it does not distinguish the two.
 */
export function fieldPresence(field: Field): FieldPresence {
  const { type, keepEmpty } = field
  const isList = typeof type === 'object' && type.kind === 'list'
  if (keepsEmpty(field) && !(isList && keepEmpty)) return 'always'
  if (typeof type === 'string') return neverEmpty.has(type) ? 'always' : 'nonZero'
  if (isList) return 'nonEmptyList'
  return type.kind === 'map' ? 'nonEmptyMap' : 'always'
}

/** Structs in Go, and JSON of any shape. */
const neverEmpty: ReadonlySet<Type> = new Set(['intOrString', 'rawExtension', 'fieldsV1', 'json'])

export function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}
