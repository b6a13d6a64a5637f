// Fields of values: presence (`has(a.b)`), optional selection (`a.?b`), and selection from values other than maps.
import { isList } from '../values/equality.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import { MapValue, none, Optional, type Value } from '../values/value.ts'

export function hasField(value: Value, field: string): boolean {
  if (value instanceof MapValue) return value.get(field) !== undefined
  if (value instanceof Optional) return value.value !== undefined && hasField(value.value, field)
  throw noSuchOverload()
}

export function optionalField(value: Value, field: string): Optional {
  const held = value instanceof Optional ? value.value : value
  if (held === undefined) return none
  if (!(held instanceof MapValue)) throw noSuchOverload()
  const found = held.get(field)
  return found === undefined ? none : new Optional(found)
}

/** The field of a value that is not a map with this field. */
export function unusualField(value: Value, field: string): Value {
  if (value instanceof Optional) return optionalField(value, field)
  if (isList(value)) throw new EvalError(`unsupported index type 'string' in list`)
  throw new EvalError(`no such key: ${field}`)
}
