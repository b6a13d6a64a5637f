// The schema of a CustomResourceDefinition as a message, whose string fields can be found as those of other kinds.
import type { CustomResourceDefinitionInput } from '../../src/api/apiextensions/v1/custom-resource-definition.ts'
import { objectMeta } from '../../src/api/meta/v1/object-meta.ts'
import type { Field, Message, Type } from '../../src/schema/descriptor/field.ts'
import type { Schema } from '../../src/gateway/definitions/schema-parts.ts'
import type { NamedMessage } from './variants.ts'

export function namedMessageOf({ spec }: CustomResourceDefinitionInput): NamedMessage {
  const [version] = spec.versions ?? []
  const { kind } = spec.names
  const whole = messageOf(kind, version?.schema?.openAPIV3Schema ?? {})
  const metadata = { type: objectMeta, presence: 'always' } as unknown as Field
  return { kind, message: { ...whole, fields: { ...whole.fields, metadata } } }
}

const messageOf = (name: string, { properties = {}, required = [] }: Schema): Message =>
  ({
    kind: 'message',
    name,
    fields: Object.fromEntries(
      Object.entries(properties).map(([field, schema]) => [
        field,
        { type: typeOf(field, schema), presence: required.includes(field) ? 'required' : 'optional' },
      ]),
    ),
  }) as unknown as Message

function typeOf(name: string, schema: Schema): Type {
  switch (schema.type) {
    case 'array':
      return { kind: 'list', element: typeOf(name, schema.items as Schema) }
    case 'integer':
      return 'int32'
    case 'boolean':
      return 'bool'
    case 'object':
      return schema.additionalProperties === undefined
        ? messageOf(name, schema)
        : { kind: 'map', value: typeOf(name, schema.additionalProperties as Schema) }
    default:
      return 'string'
  }
}
