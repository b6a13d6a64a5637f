// zero: the zero values of Go, which are there when nothing was sent.
import type { Field, Type } from './field.ts'

export function zeroOf(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'list' ? [] : {}
  if (type === 'bool') return false
  if (type === 'quantity') return '0'
  return type === 'int32' || type === 'int64' || type === 'double' || type === 'intOrString' ? 0 : ''
}

/** Go always writes the field: without a pointer and without omitempty there is no absence, only zero. */
export const isAlwaysWritten = ({ type, pointer, required, keepEmpty }: Field): boolean =>
  !pointer && (structs.has(type) || ((required === true || keepEmpty === true) && plain.has(type)))

/** Structs in Go, to which omitempty does not apply. */
const structs: ReadonlySet<Type> = new Set(['quantity', 'intOrString'])
const plain: ReadonlySet<Type> = new Set(['string', 'bool', 'int32', 'int64', 'double'])
