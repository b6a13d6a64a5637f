// publishedSchema: the schema of a custom kind as OpenAPI documents contain it. Version 3 has every keyword. Version 2
// leaves out what its clients do not understand.
import type { OpenApiDialect, OpenApiSchema } from '../../../schema/openapi/openapi.ts'
import { objectProperties } from '../../../schema/openapi/type-properties.ts'
import { isJsonObject } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

/** Without a schema everything is preserved. */
export function publishedSchema(
  schema: JsonSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  dialect: OpenApiDialect,
): OpenApiSchema {
  if (dialect.version === 2 && preservesUnknown(schema)) return { type: 'object' }
  const { properties, ...published } = publish(schema, dialect)
  return { ...published, properties: { ...(properties as object | undefined), ...objectProperties(dialect) } }
}

const publish = (schema: JsonSchemaProps, dialect: OpenApiDialect): OpenApiSchema =>
  dialect.version === 2 ? publishV2(schema, dialect) : publishV3(schema, dialect)

const preservesUnknown = (schema: JsonSchemaProps): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

const nothing: ReadonlySet<string> = new Set()
const nullDefault: ReadonlySet<string> = new Set(['default'])

function publishV3(schema: JsonSchemaProps, dialect: OpenApiDialect): OpenApiSchema {
  const published = {
    ...keywordsExcept(schema, schema.default === null ? nullDefault : nothing),
    ...(schema['x-kubernetes-int-or-string'] === true && !hasTypesInAnyOf(schema) ? { anyOf: intOrString } : {}),
    ...publishChildren(schema, dialect),
  }
  return schema['x-kubernetes-embedded-resource'] === true ? asResource(published, dialect) : published
}

/** Clients of version 2 know neither defaults nor alternatives. */
const droppedInV2: ReadonlySet<string> = new Set(['default', 'nullable', 'allOf', 'anyOf', 'oneOf', 'not'])
const droppedUntyped: ReadonlySet<string> = new Set([...droppedInV2, 'type', 'items', 'properties'])

/** What may be null, or may be any object or list, has no type. */
function publishV2(schema: JsonSchemaProps, dialect: OpenApiDialect): OpenApiSchema {
  const { type = 'object', nullable } = schema
  const preserves = preservesUnknown(schema)
  const isUntyped = nullable === true || (preserves && (type === 'object' || type === 'array'))
  const kept: JsonSchemaProps = keywordsExcept(schema, isUntyped ? droppedUntyped : droppedInV2)
  const published = { ...kept, ...publishChildren(kept, dialect) }
  const isResource = schema['x-kubernetes-embedded-resource'] === true && !preserves
  return isResource ? asResource(published, dialect) : published
}

/** Flags that are false are omitted. */
const keywordsExcept = (schema: JsonSchemaProps, dropped: ReadonlySet<string>): OpenApiSchema =>
  Object.fromEntries(
    Object.entries(schema).filter(
      ([name, value]) =>
        !dropped.has(name) && value !== undefined && (value !== false || name === 'default' || name === 'example'),
    ),
  )

/** The keywords that contain schemas of other positions. The schemas in alternatives are published as they are. */
function publishChildren(
  { properties, items, additionalProperties }: JsonSchemaProps,
  dialect: OpenApiDialect,
): OpenApiSchema {
  const published: Record<string, unknown> = {}
  if (properties !== undefined)
    published['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, publish(property, dialect)]),
    )
  if (isJsonObject(items)) published['items'] = publish(items, dialect)
  if (isJsonObject(additionalProperties)) published['additionalProperties'] = publish(additionalProperties, dialect)
  return published
}

const intOrString = [{ type: 'integer' }, { type: 'string' }] as const

const hasTypesInAnyOf = ({ anyOf = [], allOf = [] }: JsonSchemaProps): boolean =>
  [anyOf, ...allOf.map((each) => each.anyOf ?? [])].some((list) =>
    intOrString.every(({ type }, index) => list[index]?.type === type),
  )

/** An object inside of the object, with its own kind, apiVersion and metadata. */
function asResource(schema: OpenApiSchema, dialect: OpenApiDialect): OpenApiSchema {
  const { properties, required = [] } = schema as Pick<JsonSchemaProps, 'properties' | 'required'>
  return {
    ...schema,
    required: [...new Set([...required, 'kind', 'apiVersion'])],
    properties: { ...properties, ...objectProperties(dialect) },
  }
}
