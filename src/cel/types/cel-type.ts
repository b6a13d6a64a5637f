// CelType: types of values in the checker, and upstream's notation of them in errors.

export type ScalarKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error'

export interface ScalarType {
  readonly kind: ScalarKind
  /** The maximum length of a text according to the schema, for cost estimates. */
  readonly maxElements?: number
}

export interface ListType {
  readonly kind: 'list'
  readonly element: CelType
  readonly maxElements?: number
  /** The order of a set does not matter. */
  readonly isSet?: boolean
  /** The fields that identify an element of a list of type map. */
  readonly mapKeys?: readonly string[]
}

export interface MapType {
  readonly kind: 'map'
  readonly key: CelType
  readonly value: CelType
  readonly maxElements?: number
}

export interface ObjectField {
  readonly type: CelType
  /** The name in JSON, if the name in expressions is escaped. */
  readonly jsonName: string
}

export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  readonly fields: ReadonlyMap<string, ObjectField>
}

export type CelType =
  | ScalarType
  | ListType
  | MapType
  | ObjectType
  | { readonly kind: 'type'; readonly of?: CelType }
  | { readonly kind: 'opaque'; readonly name: string; readonly parameters: readonly CelType[] }
  | { readonly kind: 'param'; readonly name: string }

const scalarType = (kind: ScalarKind): ScalarType => Object.freeze({ kind })

export const boolType = scalarType('bool')
export const intType = scalarType('int')
export const uintType = scalarType('uint')
export const doubleType = scalarType('double')
export const stringType = scalarType('string')
export const bytesType = scalarType('bytes')
export const nullType = scalarType('null')
export const timestampType = scalarType('timestamp')
export const durationType = scalarType('duration')
export const dynType = scalarType('dyn')
export const errorType = scalarType('error')

export const listOf = (element: CelType): ListType => ({ kind: 'list', element })
export const mapOf = (key: CelType, value: CelType): MapType => ({ kind: 'map', key, value })
export const typeOf = (of?: CelType): CelType => (of === undefined ? { kind: 'type' } : { kind: 'type', of })
export const opaque = (name: string, ...parameters: readonly CelType[]): CelType => ({
  kind: 'opaque',
  name,
  parameters,
})
export const optionalOf = (of: CelType): CelType => opaque('optional_type', of)
export const param = (name: string): CelType => ({ kind: 'param', name })

export function objectType(name: string, fields: Readonly<Record<string, CelType>>): ObjectType {
  const all = new Map(Object.entries(fields).map(([field, type]) => [field, { type, jsonName: field }]))
  return { kind: 'object', name, fields: all }
}

/** Fields of an object that are all strings. */
export const stringFields = (...names: readonly string[]): Readonly<Record<string, CelType>> =>
  Object.fromEntries(names.map((name) => [name, stringType]))

export const isDyn = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'error'

/** Whether a value of this type may be null. */
export const isNullable = ({ kind }: CelType): boolean =>
  kind === 'null' || kind === 'object' || kind === 'opaque' || kind === 'timestamp' || kind === 'duration'

export const isOptional = (type: CelType): type is Extract<CelType, { kind: 'opaque' }> =>
  type.kind === 'opaque' && type.name === 'optional_type'

/** The notation of upstream's errors. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.element)})`
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`
    case 'object':
      return type.name
    case 'type':
      return type.of === undefined ? 'type' : `type(${typeText(type.of)})`
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(typeText).join(', ')})`
    case 'param':
      return type.name
    case 'error':
      return '!error!'
    default:
      return type.kind
  }
}

/** The name of `type(x)` at run time, which has no type parameters. */
export function runtimeTypeName(type: CelType): string {
  switch (type.kind) {
    case 'null':
      return 'null_type'
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'object':
    case 'opaque':
    case 'param':
      return type.name
    default:
      return type.kind
  }
}
