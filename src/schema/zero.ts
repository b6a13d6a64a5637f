// zero: the zero values of Go, which are there when nothing was sent.
import type { Field, Type } from './field.ts'

export function zeroOf(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'list' ? [] : {}
  if (type === 'bool') return false
  if (type === 'json') return null
  if (type === 'quantity') return '0'
  return type === 'int32' || type === 'int64' || type === 'double' || type === 'intOrString' ? 0 : ''
}

/** Go always writes the field: without a pointer and without omitempty there is no absence, only zero. */
export const isAlwaysWritten = (field: Field): boolean =>
  !field.pointer && (structs.has(field.type) || (keepsEmpty(field) && plain.has(field.type)))

/** Whether an empty, zero or false value is one, and not the same as no value. */
export const keepsEmpty = ({ pointer, required, keepEmpty, omitEmpty }: Field): boolean =>
  pointer === true || keepEmpty === true || (required === true && omitEmpty !== true)

/** Structs in Go, to which omitempty does not apply. */
const structs: ReadonlySet<Type> = new Set(['quantity', 'intOrString'])
const plain: ReadonlySet<Type> = new Set(['string', 'bool', 'int32', 'int64', 'double'])
