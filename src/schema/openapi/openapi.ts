// openapi: the OpenAPI schema of a message and of all messages that it refers to, for version 2 or 3.
import type { Field, Message, Type } from '../descriptor/field.ts'
import { keepsEmpty } from '../descriptor/zero.ts'

export type OpenApiSchema = Readonly<Record<string, unknown>>

type NamedScalar = 'fieldsV1' | 'rawExtension' | 'json' | 'quantity' | 'duration' | 'intOrString' | 'time' | 'microTime'

/** The differences between the two versions. */
export interface OpenApiDialect {
  readonly version: 2 | 3
  /** The prefix of names in references. */
  readonly root: string
  /** A reference beside other keywords. */
  besides(reference: OpenApiSchema): OpenApiSchema
  /** The schema of a value that is present even if nothing was sent. */
  withDefault(schema: OpenApiSchema, value: unknown): OpenApiSchema
  /** Scalars that may be JSON strings or numbers. */
  readonly loose: Readonly<Record<'quantity' | 'intOrString', OpenApiSchema>>
}

export const openApi2: OpenApiDialect = {
  version: 2,
  root: '#/definitions/',
  besides: (reference) => reference,
  withDefault: (schema) => schema,
  loose: { quantity: { type: 'string' }, intOrString: { type: 'string', format: 'int-or-string' } },
}

export const openApi3: OpenApiDialect = {
  version: 3,
  root: '#/components/schemas/',
  // Other keywords are ignored beside a $ref, hence allOf.
  besides: (reference) => ({ allOf: [reference] }),
  withDefault: (schema, value) => ({ ...('$ref' in schema ? { allOf: [schema] } : schema), default: value }),
  loose: {
    quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
}

/** Collects schemas by name. */
export class OpenApiSchemas {
  readonly #schemas = new Map<string, OpenApiSchema>()
  readonly dialect: OpenApiDialect

  constructor(dialect: OpenApiDialect) {
    this.dialect = dialect
  }

  reference(name: string): OpenApiSchema {
    return { $ref: this.dialect.root + name }
  }

  has(name: string): boolean {
    return this.#schemas.has(name)
  }

  set(name: string, schema: OpenApiSchema): void {
    this.#schemas.set(name, schema)
  }

  get(name: string): OpenApiSchema | undefined {
    return this.#schemas.get(name)
  }

  /** All schemas in the order of their names. */
  toObject(): Readonly<Record<string, OpenApiSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Adds the message and all messages that it refers to. */
  add(message: Message): void {
    if (this.#schemas.has(message.name)) return
    this.#schemas.set(message.name, {}) // a type may refer to itself
    const described = message.description === '' ? {} : { description: message.description }
    if (message.isChoice) return this.set(message.name, described) // upstream publishes no form
    const fields = Object.entries(message.fields)
    const required = fields.filter(([, field]) => field.required).map(([name]) => name)
    const properties = fields.map(([name, field]) => [name, this.#field(field)] as const)
    this.set(message.name, {
      ...described,
      type: 'object',
      ...(required.length === 0 ? {} : { required: required.toSorted() }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(message.mapType === undefined ? {} : { 'x-kubernetes-map-type': message.mapType }),
    })
  }

  #field(field: Field): OpenApiSchema {
    const marks: [string, unknown][] = [
      ['description', field.description],
      ['x-kubernetes-list-type', field.listType],
      ['x-kubernetes-list-map-keys', field.keys],
      ['x-kubernetes-map-type', field.mapType],
      ['x-kubernetes-patch-strategy', field.patch],
      ['x-kubernetes-patch-merge-key', field.mergeKey],
    ]
    const schema = withValues(this.#type(field.type), field.enum)
    const value = publishedDefault(field)
    const base = value === undefined ? schema : this.dialect.withDefault(schema, value)
    const besides = '$ref' in base ? this.dialect.besides(base) : base
    return { ...besides, ...Object.fromEntries(marks.filter(([, mark]) => mark !== undefined)) }
  }

  #type(type: Type): OpenApiSchema {
    if (typeof type === 'string') return type in plainScalars ? plainScalars[type as PlainScalar] : this.#named(type)
    switch (type.kind) {
      case 'message':
        this.add(type)
        return this.reference(type.name)
      case 'list':
        return { type: 'array', items: this.#element(type.element) }
      case 'map':
        return { type: 'object', additionalProperties: this.#element(type.value) }
      default:
        return type satisfies never
    }
  }

  /** An element of a list or map is never absent: null is its zero value. */
  #element(type: Type): OpenApiSchema {
    const schema = this.#type(type)
    const zero = publishedZero(type)
    return zero === undefined ? schema : this.dialect.withDefault(schema, zero)
  }

  #named(type: string): OpenApiSchema {
    const name = scalarNames[type as NamedScalar]
    const { loose } = this.dialect
    this.set(
      name,
      Object.hasOwn(loose, type) ? loose[type as keyof typeof loose] : namedScalars[type as keyof typeof namedScalars],
    )
    return this.reference(name)
  }
}

/** The default that upstream publishes: the zero value of what Go always writes. Most others it sets without publishing. */
function publishedDefault(field: Field): unknown {
  const { type, pointer } = field
  const isStruct = typeof type === 'object' && type.kind === 'message'
  return !pointer && (isStruct || keepsEmpty(field)) ? publishedZero(type) : undefined
}

/** Upstream publishes no zero value of lists, maps, bytes and JSON. */
function publishedZero(type: Type): unknown {
  if (typeof type === 'object') return type.kind === 'message' ? {} : undefined
  return zeroValues[type]
}

const zeroValues: Readonly<Partial<Record<Type & string, unknown>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
}

/** The enumeration of a list is that of its items. */
function withValues(schema: OpenApiSchema, values: readonly string[] | undefined): OpenApiSchema {
  if (values === undefined) return schema
  const { items } = schema
  return items === undefined
    ? { ...schema, enum: values.toSorted() }
    : { ...schema, items: withValues(items as OpenApiSchema, values) }
}

type PlainScalar = keyof typeof plainScalars

const plainScalars = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
} as const

const scalarNames: Readonly<Record<NamedScalar, string>> = {
  fieldsV1: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  rawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  json: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
  quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  duration: 'io.k8s.apimachinery.pkg.apis.meta.v1.Duration',
  intOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  microTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
}

const namedScalars = {
  fieldsV1: { type: 'object' },
  rawExtension: { type: 'object' },
  json: {},
  duration: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
} as const
