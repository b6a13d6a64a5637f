// Types of a structural schema, for rules of custom resources, with their maximum sizes.
import type { Int64 } from '../../schema/scalar/int64.ts'
import { lookup } from '../../base/collections/lookup.ts'
import {
  boolType,
  doubleType,
  intType,
  stringType,
  type CelType,
  type ListType,
  type ObjectField,
  type ScalarType,
} from './cel-type.ts'

/** The keywords of an OpenAPI schema that determine types. */
export interface StructuralSchema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema | boolean
  readonly items?: StructuralSchema | readonly StructuralSchema[]
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly maxLength?: Int64
  readonly maxItems?: Int64
  readonly maxProperties?: Int64
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-embedded-resource'?: boolean
}

/** A type, and the number of bytes of its smallest value in a request. */
export interface SizedType {
  readonly type: CelType
  readonly bytesMin: number
}

/** The maximum size of a request. */
const requestBytesMax = 3 * 1024 * 1024
const textBytesMin = 2
const bytesOfFormat: Readonly<
  Record<string, { readonly kind: ScalarType['kind']; readonly min: number; readonly max: number }>
> = {
  duration: { kind: 'duration', min: 4, max: 32 },
  date: { kind: 'timestamp', min: 12, max: 12 },
  'date-time': { kind: 'timestamp', min: 22, max: 37 },
}

/** How many such values fit into a request. */
export const cardinalityMax = (bytesMin: number): number =>
  bytesMin < 1 ? requestBytesMax : Math.floor(requestBytesMax / (bytesMin + 1))

/** undefined: the schema has no type, and rules cannot refer to the value. */
export function structuralType(schema: StructuralSchema, name: string, isRoot: boolean): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'])
    return { type: { kind: 'dyn', maxElements: requestBytesMax - 2 }, bytesMin: 1 }
  const whole = isRoot || schema['x-kubernetes-embedded-resource'] ? withMetadata(schema) : schema
  switch (whole.type) {
    case 'array':
      return arrayType(whole, name)
    case 'object':
      return typeof whole.additionalProperties === 'object'
        ? mapType(whole, whole.additionalProperties, name)
        : propertiesType(whole, name)
    case 'string':
      return textType(whole)
    case 'boolean':
      return { type: boolType, bytesMin: 4 }
    case 'number':
      return { type: doubleType, bytesMin: 1 }
    case 'integer':
      return { type: intType, bytesMin: 1 }
    default:
      return undefined
  }
}

const stringSchema: StructuralSchema = { type: 'string' }
const metadata: StructuralSchema = { type: 'object', properties: { name: stringSchema, generateName: stringSchema } }

/** Rules of a resource can always use its kind, version and metadata names, whatever its schema is. */
const withMetadata = (schema: StructuralSchema): StructuralSchema => ({
  ...schema,
  properties: { ...schema.properties, kind: stringSchema, apiVersion: stringSchema, metadata },
})

function arrayType(schema: StructuralSchema, name: string): SizedType | undefined {
  const { items } = schema
  if (items === undefined || isList(items)) return undefined
  const element = structuralType(items, `${name}.@idx`, false)
  if (element === undefined) return undefined
  const maxElements = Number(schema.maxItems ?? Math.floor((requestBytesMax - 2) / (element.bytesMin + 1)))
  const listType = schema['x-kubernetes-list-type']
  const type: ListType = {
    kind: 'list',
    element: element.type,
    maxElements: Math.max(0, maxElements),
    ...(listType === 'set' ? { isSet: true } : {}),
    ...(listType === 'map' ? { mapKeys: schema['x-kubernetes-list-map-keys'] ?? [] } : {}),
  }
  return { type, bytesMin: 2 }
}

const isList = (items: StructuralSchema | readonly StructuralSchema[]): items is readonly StructuralSchema[] =>
  Array.isArray(items)

function mapType(schema: StructuralSchema, values: StructuralSchema, name: string): SizedType | undefined {
  const value = structuralType(values, `${name}.@elem`, false)
  if (value === undefined) return undefined
  const maxElements = Number(schema.maxProperties ?? Math.floor((requestBytesMax - 2) / (value.bytesMin + 6)))
  // Estimates ignore the length of keys, as in upstream.
  return {
    type: { kind: 'map', key: stringType, value: value.type, maxElements: Math.max(0, maxElements) },
    bytesMin: 2,
  }
}

function propertiesType({ properties = {}, required = [] }: StructuralSchema, name: string): SizedType {
  const fields = new Map<string, ObjectField>()
  let bytesMin = 2
  for (const [jsonName, schema] of Object.entries(properties)) {
    const property = structuralType(schema, `${name}.${jsonName}`, false)
    if (property === undefined) continue
    const escaped = escapedName(jsonName)
    if (escaped !== undefined) fields.set(escaped, { type: property.type, jsonName })
    if (required.includes(jsonName) && schema.default === undefined) bytesMin += jsonName.length + property.bytesMin + 4
  }
  return { type: { kind: 'object', name, fields }, bytesMin }
}

function textType({ format = '', maxLength, enum: values = [] }: StructuralSchema): SizedType {
  const known = lookup(bytesOfFormat, format)
  if (known !== undefined) return { type: { kind: known.kind, maxElements: known.max }, bytesMin: known.min }
  const unbounded = requestBytesMax - 2
  if (format === 'byte')
    return { type: { kind: 'bytes', maxElements: Math.max(0, Number(maxLength ?? unbounded)) }, bytesMin: textBytesMin }
  const longest = values.length === 0 ? unbounded : Math.max(...values.map((value) => String(value).length))
  // A code point has up to four bytes.
  const maxElements = maxLength === undefined ? longest : Math.max(0, Number(maxLength)) * 4
  return { type: { kind: 'string', maxElements }, bytesMin: textBytesMin }
}

const reservedNames = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)
const escapes: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]

/** The name of a property in expressions; undefined when it cannot be escaped. */
export function escapedName(name: string): string | undefined {
  if (reservedNames.has(name)) return `__${name}__`
  if (!/^[A-Za-z_][\w./-]*$/.test(name)) return undefined
  return escapes.reduce((text, [from, to]) => text.replaceAll(from, to), name)
}
