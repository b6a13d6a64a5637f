// Runs one schema of a CustomResourceDefinition through all its rules: root, structure, defaults, OpenAPI.
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { forbidden, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { validateSchemaDefaults } from './schema-default-rules.ts'
import { validateOpenApiSchema } from './schema-rules.ts'
import { isConvertible, validateStructural } from './structural-rules.ts'

/** Keywords that may be used at the root beside a status subresource, under upstream's names, which its error lists. */
const besideStatus: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
}

/**
 * Structural errors suppress errors of defaults. For a schema that cannot be structural, the OpenAPI rules report
 * why, except for `$schema`.
 */
export function* validateSchema(
  schema: JsonSchemaProps,
  path: string,
  hasStatus: boolean,
  slice: Slice,
): Sliced<FieldError[]> {
  const at = `${path}.openAPIV3Schema`
  const structural = isConvertible(schema) ? yield* validateStructural(schema, at, slice) : undefined
  const shape = structural?.length === 0 ? yield* validateSchemaDefaults(schema, at, slice) : structural
  const ofOpenApi = yield* validateOpenApiSchema(schema, at, shape?.length === 0, slice)
  const isUnexplained = structural === undefined && ofOpenApi.length === 0
  return [
    ...(hasStatus ? validateBesideStatus(schema, at) : []),
    ...(schema.nullable ? [forbidden(`${at}.nullable`, 'nullable cannot be true at the root')] : []),
    ...(shape ?? []),
    ...ofOpenApi,
    ...(isUnexplained ? [invalid(at, '', "OpenAPIV3Schema 'schema' is not supported")] : []),
  ]
}

function validateBesideStatus(schema: JsonSchemaProps, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== 'object')
    return [
      invalid(
        `${path}.type`,
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ]
  if (Object.keys(schema).every((name) => Object.hasOwn(besideStatus, name))) return []
  const detail = `only [${Object.values(besideStatus).join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalid(path, schema, detail)]
}
