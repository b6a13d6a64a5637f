// Defaults in a schema: each must be valid at its position, fulfil the rules there, and contain no fields that the schema
// would prune.
import { append } from '../../../base/collections/append.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { isJsonObject, withSortedKeys, type JsonValue } from '../../../schema/json/json-value.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { ruleErrors } from '../rules/object-rules.ts'
import { decodeEmbedded, EmbeddedFieldError } from '../structural/embedded-resources.ts'
import { validateEmbedded } from '../structural/embedded-resource-rules.ts'
import { prune } from '../structural/pruning.ts'
import { SchemaNode } from '../structural/schema-node.ts'
import { validateValue, valueCheck } from '../structural/values/value-check.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

/** Does not descend into additionalProperties: defaults are forbidden there. */
export const validateSchemaDefaults = (schema: JsonSchemaProps, path: string, slice: Slice): Sliced<FieldError[]> =>
  checkDefaults(schema, path, true, slice)

function* checkDefaults(schema: JsonSchemaProps, path: string, isRoot: boolean, slice: Slice): Sliced<FieldError[]> {
  if (slice.isUsedUp()) yield
  const { items, properties = {} } = schema
  const errors = schema.default === undefined ? [] : yield* checkDefault(schema, `${path}.default`, isRoot, slice)
  if (isJsonObject(items)) append(errors, yield* checkDefaults(items, `${path}.items`, false, slice))
  for (const [name, property] of Object.entries(properties))
    // Other rules reject a default in the metadata of the root.
    if (!isRoot || name !== 'metadata')
      append(errors, yield* checkDefaults(property, `${path}.properties[${name}]`, false, slice))
  return errors
}

function* checkDefault(schema: JsonSchemaProps, path: string, isRoot: boolean, slice: Slice): Sliced<FieldError[]> {
  const node = new SchemaNode(schema, isRoot)
  const value = schema.default as JsonValue
  const hasUnknownFields = prune(value, node, []) !== value
  const errors = [
    ...(hasUnknownFields ? [invalid(path, withSortedKeys(value), 'must not have unknown fields')] : []),
    ...embeddedErrors(value, node, path),
    ...(yield* validateValue(valueCheck(schema), value, path, undefined, slice)),
  ]
  return errors.length > 0 ? errors : yield* ruleErrors(schema, isRoot, value, path, slice)
}

/** A resource in a default must be complete, and its metadata must be valid. */
function embeddedErrors(value: JsonValue, node: SchemaNode, path: string): FieldError[] {
  const errors: FieldError[] = []
  try {
    validateEmbedded(decodeEmbedded(value, node, path, { unknown: [], isStored: false }), node, path, errors)
  } catch (error) {
    if (!(error instanceof EmbeddedFieldError)) throw error
    return [error.fieldError]
  }
  return errors
}
