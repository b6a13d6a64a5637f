// matchesType: whether an overload with this parameter type accepts a value. Elements of lists and maps are not checked.
import { lookup } from '../../base/collections/lookup.ts'
import type { CelType } from '../types/cel-type.ts'
import { isList } from './equality.ts'
import { MapValue, Opaque, Optional, TypeValue, Uint, type Value } from './value.ts'
import { Duration, Timestamp } from './time-values.ts'

export function matchesType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true
    case 'opaque':
      if (type.name === 'optional_type')
        return (
          value instanceof Optional &&
          (value.value === undefined || matchesType(value.value, type.parameters[0] ?? { kind: 'dyn' }))
        )
      return value instanceof Opaque && runtimeType(value) === type.name
    case 'object':
      return value instanceof MapValue
    default:
      return runtimeType(value) === nameOf(type.kind)
  }
}

const nameOf = (kind: string): string =>
  lookup({ null: 'null_type', timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration' }, kind) ??
  kind

/** The name that `type(value)` shows. */
export function runtimeType(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
      return objectTypeName(value)
  }
}

function objectTypeName(value: Exclude<Value, boolean | bigint | number | string>): string {
  if (value === null) return 'null_type'
  if (isList(value)) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof Optional) return 'optional_type'
  return value instanceof Opaque && value.type.kind === 'opaque' ? value.type.name : 'dyn'
}
