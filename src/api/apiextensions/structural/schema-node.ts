// SchemaNode: one position of a structural schema, with the schemas of the positions below it. Nodes are made when they are
// first visited, so a schema without objects costs nothing.
import { isJsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

export class SchemaNode {
  readonly schema: JsonSchemaProps
  /** The fields of an object that is a resource: kind, apiVersion and metadata are implicit. */
  readonly isResource: boolean
  readonly preservesUnknown: boolean
  readonly isNullable: boolean
  /** The default with the defaults inside of it, once it was needed: see defaulting.ts. */
  completeDefault: JsonValue | undefined
  #properties: ReadonlyMap<string, SchemaNode> | undefined
  #defaults: readonly (readonly [name: string, node: SchemaNode])[] | undefined
  #additional: SchemaNode | false | undefined
  #items: SchemaNode | false | undefined

  constructor(schema: JsonSchemaProps, isRoot = false) {
    this.schema = schema
    this.isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true
    this.preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
    this.isNullable = schema.nullable === true
  }

  get properties(): ReadonlyMap<string, SchemaNode> {
    return (this.#properties ??= new Map(
      Object.entries(this.schema.properties ?? {}).map(([name, schema]) => [name, new SchemaNode(schema)]),
    ))
  }

  /** The properties that have a default. */
  get defaults(): readonly (readonly [name: string, node: SchemaNode])[] {
    return (this.#defaults ??= [...this.properties].filter(([, node]) => node.default !== undefined))
  }

  /** The default. Null is none. */
  get default(): JsonValue | undefined {
    return (this.schema.default as JsonValue | undefined) ?? undefined
  }

  /** The node of all properties that are not declared by name. */
  get additional(): SchemaNode | undefined {
    return (this.#additional ??= childNode(this.schema.additionalProperties)) || undefined
  }

  get items(): SchemaNode | undefined {
    return (this.#items ??= childNode(this.schema.items)) || undefined
  }

  /** The node of a property. */
  child(name: string): SchemaNode | undefined {
    return this.properties.get(name) ?? this.additional
  }
}

const childNode = (schema: unknown): SchemaNode | false => (isJsonObject(schema) ? new SchemaNode(schema) : false)

/** Whether any position of a schema, not of its junctors, fulfils a condition. */
export function anySchema(schema: JsonSchemaProps, fulfils: (schema: JsonSchemaProps) => boolean): boolean {
  const { properties = {}, additionalProperties, items } = schema
  const isFulfilledIn = (part: unknown) => isJsonObject(part) && anySchema(part, fulfils)
  return (
    fulfils(schema) ||
    isFulfilledIn(additionalProperties) ||
    isFulfilledIn(items) ||
    Object.values(properties).some(isFulfilledIn)
  )
}
