// openapi: the OpenAPI v3 schema of a message and of every message that it refers to.
import type { Field, Message, Type } from './field.ts'

export type OpenApiSchema = Readonly<Record<string, unknown>>

/** Adds the message and all it refers to to `schemas`, by name. */
export function addOpenApiSchemas(
  message: Message,
  schemas: Map<string, OpenApiSchema>,
  extra: OpenApiSchema = {},
): void {
  if (schemas.has(message.name)) return
  schemas.set(message.name, {}) // a type may refer to itself
  if (message.isChoice) return // of any form, as upstream publishes it
  const properties: Record<string, OpenApiSchema> = {}
  const required: string[] = []
  for (const [name, field] of Object.entries(message.fields)) {
    properties[name] = fieldSchema(field, schemas)
    if (field.required) required.push(name)
  }
  schemas.set(message.name, {
    type: 'object',
    ...(message.description === '' ? {} : { description: message.description }),
    ...(required.length === 0 ? {} : { required: required.toSorted() }),
    properties,
    ...extra,
  })
}

export const schemaReference = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` })

function fieldSchema(field: Field, schemas: Map<string, OpenApiSchema>): OpenApiSchema {
  const marks: [string, unknown][] = [
    ['description', field.description],
    ['enum', field.enum?.toSorted()],
    ['x-kubernetes-list-type', field.listType],
    ['x-kubernetes-list-map-keys', field.keys],
    ['x-kubernetes-map-type', field.mapType],
    ['x-kubernetes-patch-strategy', field.patch],
    ['x-kubernetes-patch-merge-key', field.mergeKey],
  ]
  const schema = typeSchema(field.type, schemas)
  // Beside a $ref nothing else may stand, hence allOf.
  const base = '$ref' in schema ? { allOf: [schema], ...(field.pointer ? {} : { default: {} }) } : schema
  return { ...base, ...Object.fromEntries(marks.filter(([, value]) => value !== undefined)) }
}

const scalarSchemas = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
} as const

const namedScalars = {
  fieldsV1: ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', { type: 'object' }],
  rawExtension: ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object' }],
  json: ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', {}],
  quantity: ['io.k8s.apimachinery.pkg.api.resource.Quantity', { oneOf: [{ type: 'string' }, { type: 'number' }] }],
  intOrString: [
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  ],
  time: ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', { type: 'string', format: 'date-time' }],
  microTime: ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', { type: 'string', format: 'date-time' }],
} as const

function typeSchema(type: Type, schemas: Map<string, OpenApiSchema>): OpenApiSchema {
  if (typeof type === 'string') {
    if (type in scalarSchemas) return scalarSchemas[type as keyof typeof scalarSchemas]
    const [name, schema] = namedScalars[type as keyof typeof namedScalars]
    schemas.set(name, schema)
    return schemaReference(name)
  }
  switch (type.kind) {
    case 'message':
      addOpenApiSchemas(type, schemas)
      return schemaReference(type.name)
    case 'list':
      return { type: 'array', items: typeSchema(type.element, schemas) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.value, schemas) }
    default:
      return type satisfies never
  }
}
