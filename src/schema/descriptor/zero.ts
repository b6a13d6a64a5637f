// zero: Go's zero values, which fields have when nothing was sent. Unset lists, maps, pointers and times are null.
import type { Field, Message, Type } from './field.ts'

export function zeroOf(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'list' ? [] : {}
  if (type === 'bool') return false
  if (type === 'json') return null
  if (type === 'quantity') return '0'
  if (type === 'duration') return '0s'
  return type === 'int32' || type === 'int64' || type === 'double' || type === 'intOrString' ? 0 : ''
}

/** A struct to which nothing was sent. Its lists are empty; pointers and times are absent. */
export const zeroStruct = ({ fields }: Message): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { type, pointer }]) => !pointer && !times.has(type))
      .map(([name, { type }]) => [name, isMessage(type) ? zeroStruct(type) : zeroOf(type)]),
  )

const isMessage = (type: Type): type is Message => typeof type === 'object' && type.kind === 'message'

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
