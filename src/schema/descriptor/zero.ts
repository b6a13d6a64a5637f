// zero: Go's zero values, which fields have when nothing was sent. Unset lists, maps, pointers and times are null.
import type { Field, Type } from './field.ts'

export function zeroOf(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'list' ? [] : {}
  if (type === 'bool') return false
  if (type === 'json') return null
  if (type === 'quantity') return '0'
  if (type === 'duration') return '0s'
  return type === 'int32' || type === 'int64' || type === 'double' || type === 'intOrString' ? 0 : ''
}

/** What Go writes when nothing was sent: without omitempty that is the zero value. Undefined: nothing. */
export function valueWhenUnset(field: Field): unknown {
  const { type, pointer, keepEmpty, omitEmpty } = field
  if (!pointer && structs.has(type)) return zeroOf(type)
  if (!pointer && times.has(type)) return omitEmpty ? undefined : null
  if (!pointer && plain.has(type)) return keepsEmpty(field) ? zeroOf(type) : undefined
  return keepEmpty ? null : undefined
}

/** Whether an empty, zero or false value differs from no value. */
export const keepsEmpty = ({ pointer, required, keepEmpty, omitEmpty }: Field): boolean =>
  pointer === true || keepEmpty === true || (required === true && omitEmpty !== true)

/** Structs in Go, to which omitempty does not apply. */
const structs: ReadonlySet<Type> = new Set(['quantity', 'duration', 'intOrString'])
/** Structs whose zero value is null. */
const times: ReadonlySet<Type> = new Set(['time', 'microTime'])
const plain: ReadonlySet<Type> = new Set(['string', 'bool', 'int32', 'int64', 'double'])
