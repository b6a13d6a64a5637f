// How Go's decoder names the type of a field in its errors.
import type { Message, ScalarName, Type } from '../descriptor/field.ts'
import { goListType, goTextType } from './go-names.ts'

export const goTypeName = ({ name }: Message): string => name.split('.').slice(-2).join('.')

const goScalars: Readonly<Record<ScalarName, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  bytes: '[]uint8',
  quantity: 'resource.Quantity',
  intOrString: 'int32',
  duration: 'string',
  time: 'string',
  microTime: 'string',
  fieldsV1: 'v1.FieldsV1',
  rawExtension: 'runtime.RawExtension',
  json: 'v1.JSON',
}

/** A type in a field of a message. */
export interface FieldPlace {
  /** The name of the message. */
  readonly owner: string
  /** The name of the field. */
  readonly name: string
  /** The field's type, or that of its elements. */
  readonly type: Type
}

export function goFieldType(place: FieldPlace): string {
  const { owner, name, type } = place
  if (type === 'string') return goTextType(owner, name)
  if (typeof type === 'string') return goScalars[type]
  if (type.kind === 'message') return goTypeName(type)
  if (type.kind === 'list') return goListType(owner, name) ?? `[]${goFieldType({ ...place, type: type.element })}`
  return type.value === 'quantity' ? 'v1.ResourceList' : `map[string]${goFieldType({ ...place, type: type.value })}`
}
