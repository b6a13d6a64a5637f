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

/** The structure of whole objects. */
export const applyStructure = (schema: JsonSchemaProps): StructStructure => structOf(schema, true, isOpen(schema))

const isOpen = (schema: JsonSchemaProps): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true
const isAtomic = (schema: JsonSchemaProps): boolean => schema['x-kubernetes-map-type'] === 'atomic'

/** `isInOpen`: an object around it preserves unknown fields. Upstream then allows them in all objects inside. */
function structureOfSchema(schema: JsonSchemaProps, isInOpen: boolean): Structure {
  const { type, additionalProperties: additional } = schema
  const allowsUnknown = isInOpen || isOpen(schema)
  if (type === 'array') return listOf(schema, allowsUnknown)
  if (type !== 'object') return lookup(scalars, type ?? '') ?? any
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  if (isResource || hasProperties(schema) || additional === false) return structOf(schema, isResource, allowsUnknown)
  const value = typeof additional === 'object' ? structureOfSchema(additional, allowsUnknown) : any
  return { kind: 'map', isAtomic: isAtomic(schema), value }
}

const hasProperties = ({ properties = {} }: JsonSchemaProps): boolean => Object.keys(properties).length > 0

function structOf(schema: JsonSchemaProps, isResource: boolean, allowsUnknown: boolean): StructStructure {
  const structures = new Map<string, Structure>(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      structureOfSchema(property, allowsUnknown),
    ]),
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
  const others = allowsUnknown ? any : undefined
  return { kind: 'struct', isAtomic: isAtomic(schema), fields, ordered, others, hasNulls: true, compiled: {} }
}

function listOf(schema: JsonSchemaProps, allowsUnknown: boolean): ListStructure {
  const items = isJsonObject(schema.items) ? (schema.items as JsonSchemaProps) : {}
  const listType = schema['x-kubernetes-list-type']
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  return {
    kind: 'list',
    listType: listType === 'set' || listType === 'map' ? listType : 'atomic',
    keys: names.toSorted().map((name) => ({ name, default: lookup(items.properties, name)?.default })),
    written: new Map(),
    element: structureOfSchema(items, allowsUnknown),
  }
}
