// The structure of custom objects for server-side apply, derived from their schema.
import { lookup } from '../../../base/collections/lookup.ts'
import { fieldElement } from '../../../schema/apply/path-element.ts'
import {
  structureOf,
  type ListStructure,
  type ScalarStructure,
  type StructField,
  type Structure,
  type StructStructure,
} from '../../../schema/apply/structure.ts'
import { isJsonObject } from '../../../schema/json/json-value.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

const any: Structure = { kind: 'any' }
const text: ScalarStructure = { kind: 'scalar', type: 'string' }
const scalars: Readonly<Record<string, ScalarStructure>> = {
  boolean: { kind: 'scalar', type: 'bool' },
  integer: { kind: 'scalar', type: 'int64' },
  number: { kind: 'scalar', type: 'double' },
  string: text,
}
const intOrString: ScalarStructure = { kind: 'scalar', type: 'intOrString' }

/** The structure of whole objects. */
export const applyStructure = (schema: JsonSchemaProps): StructStructure => structOf(schema, true)

function structureOfSchema(schema: JsonSchemaProps): Structure {
  if (schema['x-kubernetes-int-or-string']) return intOrString
  const { type, additionalProperties: additional } = schema
  if (type === 'array') return listOf(schema)
  if (schema['x-kubernetes-preserve-unknown-fields']) return any
  if (type !== 'object') return lookup(scalars, type ?? '') ?? any
  if (additional === undefined || additional === false)
    return structOf(schema, schema['x-kubernetes-embedded-resource'] === true)
  const value = typeof additional === 'object' ? structureOfSchema(additional) : any
  return { kind: 'map', isAtomic: isAtomic(schema), value }
}

const isAtomic = (schema: JsonSchemaProps): boolean => schema['x-kubernetes-map-type'] === 'atomic'

function structOf(schema: JsonSchemaProps, isResource: boolean): StructStructure {
  const structures = new Map<string, Structure>(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [name, structureOfSchema(property)]),
  )
  if (isResource) {
    structures.set('apiVersion', text)
    structures.set('kind', text)
    structures.set('metadata', structureOf(objectMeta))
  }
  const ordered = [...structures]
    .map(([name, structure]): StructField => ({ name, element: fieldElement(name), structure, absent: undefined }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const fields = new Map(ordered.map((field) => [field.name, field]))
  return { kind: 'struct', isAtomic: isAtomic(schema), fields, ordered, compiled: {} }
}

function listOf(schema: JsonSchemaProps): ListStructure {
  const items = isJsonObject(schema.items) ? (schema.items as JsonSchemaProps) : {}
  const listType = schema['x-kubernetes-list-type']
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  return {
    kind: 'list',
    listType: listType === 'set' || listType === 'map' ? listType : 'atomic',
    keys: names.toSorted().map((name) => ({ name, default: lookup(items.properties, name)?.default })),
    written: new Map(),
    element: structureOfSchema(items),
  }
}
