// Structure: the properties of a type that server-side apply needs: which values are one field, and how elements of lists and
// maps are identified. It is derived from a message here; other schemas can have their own derivation.
import { lookup } from '../../base/collections/lookup.ts'
import type { JsonObject, JsonValue } from '../json/json-value.ts'
import type { FieldSet } from './field-set.ts'
import { fieldElement } from './path-element.ts'
import { valueWhenUnset } from '../descriptor/zero.ts'
import type { Field, FieldOptions, Message, ScalarName, Type } from '../descriptor/field.ts'

export type Structure = ScalarStructure | StructStructure | MapStructure | ListStructure | AnyStructure

export interface ScalarStructure {
  readonly kind: 'scalar'
  readonly type: ScalarName
}

export interface StructStructure {
  readonly kind: 'struct'
  readonly isAtomic: boolean
  readonly fields: ReadonlyMap<string, StructField>
  /** The same fields in the order of their names, which is the order of field sets. */
  readonly ordered: readonly StructField[]
  /** The structure of fields that are not declared; undefined when there are none. Each is owned itself, as in a map. */
  readonly others: Structure | undefined
  /** Null is a value, as in custom objects. In the types of Go it is the same as an absent field. */
  readonly hasNulls: boolean
  /** Functions that are derived from the fields on first use: see struct-fields.ts. */
  readonly compiled: { node?: StructNode; differences?: StructDifferences }
}

/** The node of a field's value; undefined when it has none. An entry, unlike a declared field, always has one. */
type Descend = (structure: Structure, value: JsonValue, isEntry?: boolean) => FieldSet | undefined

/** The node of a struct from the nodes of its fields; undefined when no field has one. */
export type StructNode = (object: JsonObject, descend: Descend, isMember: boolean) => FieldSet | undefined

/** Calls `differs` for every field whose two values are not identical. */
export type StructDifferences = (old: JsonObject, next: JsonObject, differs: Differs) => void
type Differs = (field: StructField, old: JsonValue | undefined, next: JsonValue | undefined) => void

export interface StructField {
  readonly name: string
  /** The path element of the field in field sets. */
  readonly element: string
  readonly structure: Structure
  /** The value of a field that was not sent: Go has no absent values, only null, zero and empty ones. */
  readonly absent: JsonValue | undefined
}

export interface MapStructure {
  readonly kind: 'map'
  readonly isAtomic: boolean
  readonly value: Structure
}

export interface ListStructure {
  readonly kind: 'list'
  readonly listType: 'atomic' | 'set' | 'map'
  /** The keys that identify the elements of a map list, in the order of their names. */
  readonly keys: readonly ListKey[]
  /** A cache of elements by their single key or value. item-element.ts bounds it. */
  readonly written: Map<unknown, string>
  readonly element: Structure
}

export interface ListKey {
  readonly name: string
  readonly default: unknown
}

/** JSON of any form: objects are maps, everything else is one field. */
export interface AnyStructure {
  readonly kind: 'any'
}

const anyStructure: AnyStructure = { kind: 'any' }
const structures = new WeakMap<Message, StructStructure>()

export function structureOf(message: Message): StructStructure {
  const known = structures.get(message)
  if (known !== undefined) return known
  const fields = new Map<string, StructField>()
  const ordered: StructField[] = []
  const isAtomic = message.mapType === 'atomic'
  const structure: StructStructure = {
    kind: 'struct',
    isAtomic,
    fields,
    ordered,
    others: undefined,
    hasNulls: false,
    compiled: {},
  }
  structures.set(message, structure) // before its fields: a type may refer to itself
  for (const [name, field] of Object.entries(message.fields).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const element = fieldElement(name)
    ordered.push({ name, element, structure: typeStructure(field.type, field), absent: absentValue(field) })
  }
  for (const field of ordered) fields.set(field.name, field)
  return structure
}

function typeStructure(type: Type, { listType = 'atomic', mapType, keys = [] }: FieldOptions): Structure {
  if (typeof type === 'string')
    return type === 'rawExtension' || type === 'fieldsV1' || type === 'json' ? anyStructure : { kind: 'scalar', type }
  switch (type.kind) {
    case 'message': {
      if (type.isChoice) return anyStructure
      const structure = structureOf(type)
      return mapType === undefined ? structure : { ...structure, isAtomic: mapType === 'atomic' }
    }
    case 'map':
      return { kind: 'map', isAtomic: mapType === 'atomic', value: typeStructure(type.value, {}) }
    case 'list': {
      const listKeys = keys.toSorted().map((name) => ({ name, default: defaultOf(type.element, name) }))
      return { kind: 'list', listType, keys: listKeys, written: new Map(), element: typeStructure(type.element, {}) }
    }
    default:
      return type satisfies never
  }
}

const defaultOf = (element: Type, name: string): unknown =>
  typeof element === 'object' && element.kind === 'message' ? lookup(element.fields, name)?.default : undefined

function absentValue(field: Field): JsonValue | undefined {
  const { type, pointer, required } = field
  if (!pointer && typeof type === 'object' && type.kind === 'message') return emptyStruct
  const written = valueWhenUnset(field) as JsonValue | undefined
  return written === undefined && required ? null : written
}

/** The value of a struct that was not sent. */
export const emptyStruct: JsonObject = Object.freeze({})
