// Defaults in a schema: each must be valid at its position, fulfil the rules there, and contain no fields that the schema
// would prune.
import { append } from '../../../base/collections/append.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { isJsonObject, withSortedKeys, type JsonValue } from '../../../schema/json/json-value.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { ruleErrors } from '../rules/object-rules.ts'
import { decodeEmbedded, EmbeddedFieldError, metadataProblem } from '../structural/embedded-resources.ts'
import { validateEmbedded } from '../structural/embedded-resource-rules.ts'
import { prune } from '../structural/pruning.ts'
import { SchemaNode } from '../structural/schema-node.ts'
import { defaultCheck, validateValue } from '../structural/values/value-check.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'

/** Does not descend into additionalProperties: defaults are forbidden there. */
export const validateSchemaDefaults = (schema: JsonSchemaProps, path: string, slice: Slice): Sliced<FieldError[]> =>
  checkDefaults(schema, path, { isRoot: true }, slice)

interface Place {
  readonly isRoot: boolean
  /** In the metadata of an embedded resource: the metadata with a value at this place, and no others. */
  readonly metadataWith?: (value: JsonValue) => JsonValue
}

function* checkDefaults(schema: JsonSchemaProps, path: string, place: Place, slice: Slice): Sliced<FieldError[]> {
  if (slice.isUsedUp()) yield
  const { items, properties = {} } = schema
  const errors = schema.default === undefined ? [] : yield* checkDefault(schema, `${path}.default`, place, slice)
  if (isJsonObject(items)) append(errors, yield* checkDefaults(items, `${path}.items`, itemPlace(place), slice))
  for (const [name, property] of Object.entries(properties))
    // Other rules reject a default in the metadata of the root.
    if (!place.isRoot || name !== 'metadata') {
      const within = propertyPlace(schema, name, place)
      append(errors, yield* checkDefaults(property, `${path}.properties[${name}]`, within, slice))
    }
  return errors
}

const itemPlace = ({ metadataWith }: Place): Place =>
  metadataWith === undefined ? { isRoot: false } : { isRoot: false, metadataWith: (value) => metadataWith([value]) }

function propertyPlace(schema: JsonSchemaProps, name: string, { metadataWith }: Place): Place {
  if (metadataWith !== undefined)
    return { isRoot: false, metadataWith: (value) => metadataWith(Object.fromEntries([[name, value]])) }
  if (schema['x-kubernetes-embedded-resource'] && name === 'metadata')
    return { isRoot: false, metadataWith: (value) => value }
  return { isRoot: false }
}

function* checkDefault(schema: JsonSchemaProps, path: string, place: Place, slice: Slice): Sliced<FieldError[]> {
  const { isRoot, metadataWith } = place
  const value = schema.default as JsonValue
  if (metadataWith !== undefined) {
    const problem = metadataProblem(metadataWith(value))
    if (problem !== undefined)
      return [invalid(path, withSortedKeys(value), `must result in valid metadata: ${problem}`)]
  }
  const node = new SchemaNode(schema, isRoot)
  // The fields of metadata need not be declared.
  const hasUnknownFields = metadataWith === undefined && prune(value, node, []) !== value
  const errors = [
    ...(hasUnknownFields ? [invalid(path, withSortedKeys(value), 'must not have unknown fields')] : []),
    ...embeddedErrors(value, node, path),
    ...(yield* validateValue(defaultCheck(schema), value, path, undefined, slice)),
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
