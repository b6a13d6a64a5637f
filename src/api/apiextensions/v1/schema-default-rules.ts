// Defaults in a schema: each must be valid at its position, and must not contain fields that the schema would prune.
import { lookup } from '../../../base/collections/lookup.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { isJsonObject, type JsonValue } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { validateValue, valueCheck } from '../structural/values/value-check.ts'

/** Does not descend into additionalProperties: defaults are forbidden there. */
export function validateSchemaDefaults(schema: JsonSchemaProps, path: string): FieldError[] {
  const { items, properties = {} } = schema
  return [
    ...(schema.default === undefined ? [] : checkDefault(schema, path)),
    ...(isJsonObject(items) ? validateSchemaDefaults(items, `${path}.items`) : []),
    ...Object.entries(properties).flatMap(([name, property]) =>
      validateSchemaDefaults(property, `${path}.properties[${name}]`),
    ),
  ]
}

const checkDefault = (schema: JsonSchemaProps, path: string): FieldError[] => [
  ...(hasUnknownFields(schema, schema.default)
    ? [invalid(`${path}.default`, schema.default, 'must not have unknown fields')]
    : []),
  ...validateValue(valueCheck(schema), schema.default as JsonValue, `${path}.default`),
]

const metaFields = ['apiVersion', 'kind', 'metadata']

export function hasUnknownFields(schema: JsonSchemaProps, value: unknown): boolean {
  if (Array.isArray(value))
    return isJsonObject(schema.items) && value.some((item) => hasUnknownFields(schema.items as JsonSchemaProps, item))
  if (!isJsonObject(value)) return false
  const { properties = {}, additionalProperties: additional } = schema
  return Object.entries(value).some(([name, item]) => {
    if (schema['x-kubernetes-embedded-resource'] && metaFields.includes(name)) return false
    if (Object.hasOwn(properties, name)) return hasUnknownFields(lookup(properties, name) ?? {}, item)
    if (typeof additional === 'object') return hasUnknownFields(additional, item)
    return additional !== true && !schema['x-kubernetes-preserve-unknown-fields']
  })
}
