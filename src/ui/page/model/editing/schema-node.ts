// The schema of a field, as the cluster's OpenAPI document describes it. References are resolved when a field is looked at, so a
// document is used as it was read, and schemas may refer to themselves.
import { lookup } from '../../../../base/collections/lookup.ts'

/** A schema of OpenAPI 3.0, as far as the editor uses it. */
export interface OpenApiSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly additionalProperties?: OpenApiSchema | boolean
  readonly items?: OpenApiSchema
  readonly allOf?: readonly OpenApiSchema[]
  readonly anyOf?: readonly OpenApiSchema[]
  readonly oneOf?: readonly OpenApiSchema[]
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A document of `/openapi/v3`. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> }
}

export const fieldTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const
export type FieldType = (typeof fieldTypes)[number]

const referencePrefix = '#/components/schemas/'
/** A schema consists of at most this many: of references and of parts of `allOf`. References in a circle end here. */
const partsMax = 20

export class SchemaNode {
  readonly #schemas: Readonly<Record<string, OpenApiSchema>>
  /** The schema, and what it refers to. */
  readonly #parts: readonly OpenApiSchema[]

  constructor(schemas: Readonly<Record<string, OpenApiSchema>>, schema: OpenApiSchema) {
    this.#schemas = schemas
    this.#parts = partsOf(schemas, schema)
  }

  get description(): string {
    return this.#first(({ description }) => description) ?? ''
  }

  /** The types that a value may have; empty if it may have any. */
  get types(): ReadonlySet<FieldType> {
    if (this.#parts.some((part) => part['x-kubernetes-int-or-string'] === true)) return new Set(['integer', 'string'])
    const types = this.#parts.flatMap(typesOf)
    if (types.length > 0) return new Set(types)
    if (this.#parts.some(({ properties }) => properties !== undefined)) return new Set(['object'])
    return new Set(this.#parts.some(({ items }) => items !== undefined) ? ['array'] : [])
  }

  /** The type as `kubectl explain` writes it. */
  get typeText(): string {
    const types = [...this.types]
    if (types.length === 0) return 'any'
    return types.map((type) => this.#textOf(type)).join(' | ')
  }

  /** The values that are permitted; empty if the schema does not list them. */
  get values(): readonly unknown[] {
    return this.#first((part) => part.enum) ?? []
  }

  /** The fields that the schema names. */
  get fields(): readonly string[] {
    return [...new Set(this.#parts.flatMap(({ properties = {} }) => Object.keys(properties)))]
  }

  /** Required fields that the server does not set. */
  get required(): readonly string[] {
    const names = new Set(this.#parts.flatMap(({ required = [] }) => required))
    return [...names].filter((name) => this.field(name)?.hasDefault !== true)
  }

  /** Whether the server sets a value. An empty default is that of a Go type, which the validation of Kubernetes rejects. */
  get hasDefault(): boolean {
    const value = this.#first((part) => part.default)
    if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
    return value !== undefined && value !== '' && value !== 0 && value !== null
  }

  /** Whether other fields than those that the schema names are kept. */
  get isOpen(): boolean {
    if (this.#parts.some((part) => part['x-kubernetes-preserve-unknown-fields'] === true)) return true
    return (
      this.fields.length === 0 || this.#parts.some(({ additionalProperties = false }) => additionalProperties !== false)
    )
  }

  field(name: string): SchemaNode | undefined {
    const named = this.#first(({ properties }) => lookup(properties, name))
    const schema =
      named ?? this.#first(({ additionalProperties: other }) => (typeof other === 'object' ? other : undefined))
    return schema === undefined ? undefined : new SchemaNode(this.#schemas, schema)
  }

  get item(): SchemaNode | undefined {
    const schema = this.#first(({ items }) => items)
    return schema === undefined ? undefined : new SchemaNode(this.#schemas, schema)
  }

  #textOf(type: FieldType): string {
    if (type === 'array') return `[]${this.item?.typeText ?? 'any'}`
    const isMap = type === 'object' && this.fields.length === 0
    const value = isMap ? this.field('')?.typeText : undefined
    return value === undefined ? type : `map[string]${value}`
  }

  #first<T>(read: (part: OpenApiSchema) => T | undefined): T | undefined {
    for (const part of this.#parts) {
      const value = read(part)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** The schema of a kind; undefined if the document does not have it. */
export function schemaOfKind(document: OpenApiDocument, wanted: GroupVersionKind): SchemaNode | undefined {
  const schemas = document.components?.schemas ?? {}
  const isWanted = ({ group, version, kind }: GroupVersionKind): boolean =>
    group === wanted.group && version === wanted.version && kind === wanted.kind
  const found = Object.values(schemas).find((schema) => schema['x-kubernetes-group-version-kind']?.some(isWanted))
  return found === undefined ? undefined : new SchemaNode(schemas, found)
}

function partsOf(schemas: Readonly<Record<string, OpenApiSchema>>, schema: OpenApiSchema): readonly OpenApiSchema[] {
  const parts: OpenApiSchema[] = []
  const waiting = [schema]
  for (let part = waiting.shift(); part !== undefined && parts.length < partsMax; part = waiting.shift()) {
    parts.push(part)
    const { $ref, allOf = [] } = part
    const target =
      $ref?.startsWith(referencePrefix) === true ? lookup(schemas, $ref.slice(referencePrefix.length)) : undefined
    waiting.push(...(target === undefined ? [] : [target]), ...allOf)
  }
  return parts
}

/** Alternatives that only restrict a value have no type, and say nothing about the types of the others. */
function typesOf({ type, anyOf, oneOf }: OpenApiSchema): readonly FieldType[] {
  if (type !== undefined) return fieldTypes.filter((each) => each === type)
  const alternatives = (oneOf ?? anyOf ?? []).map((each) => fieldTypes.find((known) => known === each.type))
  return alternatives.flatMap((each) => (each === undefined || alternatives.includes(undefined) ? [] : [each]))
}
