// Structural schemas: every value has one declared position and type, and the schemas under allOf, anyOf, oneOf and not
// only restrict it. Pruning, defaulting and server-side apply of custom resources depend on this.
import { lookup } from '../../../base/collections/lookup.ts'
import { append } from '../../../base/collections/append.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import {
  forbidden,
  invalid,
  required,
  fieldErrorText,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { patternError } from '../schema/schema-pattern.ts'

type Level = 'root' | 'item' | 'field'

/** Whether the schema uses only what a structural schema can express; other rules reject the rest. */
export function isConvertible(schema: JsonSchemaProps): boolean {
  const { id, $schema, $ref, additionalItems, patternProperties, definitions, dependencies, items } = schema
  if (id ?? $schema ?? $ref ?? additionalItems ?? patternProperties ?? definitions ?? dependencies) return false
  if ((Array.isArray(items) && items.length > 0) || schema['x-kubernetes-preserve-unknown-fields'] === false)
    return false
  return schemasIn(schema).every(isConvertible)
}

/** The direct sub-schemas of a schema. */
export const schemasIn = (schema: JsonSchemaProps): JsonSchemaProps[] =>
  [
    ...[schema.items ?? []].flat(),
    ...Object.values(schema.properties ?? {}),
    schema.additionalProperties,
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.not,
  ].filter((part): part is JsonSchemaProps => typeof part === 'object')

/** The schema of the items; an empty list counts as none. */
const itemOf = (items: JsonSchemaProps['items']): JsonSchemaProps | undefined =>
  Array.isArray(items) ? undefined : (items as JsonSchemaProps | undefined)

/** The errors are sorted by their text, as in upstream's responses. */
export function* validateStructural(schema: JsonSchemaProps, path: string, slice: Slice): Sliced<FieldError[]> {
  return [...(yield* checkStructure(schema, 'root', path, slice)), ...checkJunctors(schema, schema, path, path)]
    .map((error) => [fieldErrorText(error), error] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, error]) => error)
}

const intOrString = [{ type: 'integer' }, { type: 'string' }]

function* checkStructure(schema: JsonSchemaProps, level: Level, path: string, slice: Slice): Sliced<FieldError[]> {
  if (slice.isUsedUp()) yield
  const { type, items, properties = {}, additionalProperties: additional } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const errors: FieldError[] = []
  const item = itemOf(items)
  if (type === 'array' && item === undefined) errors.push(required(`${path}.items`, 'must be specified'))
  if (item !== undefined) append(errors, yield* checkStructure(item, 'item', `${path}.items`, slice))
  for (const [name, property] of Object.entries(properties))
    append(errors, yield* checkStructure(property, 'field', `${path}.properties[${name}]`, slice))
  if (additional !== undefined && level === 'root')
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'))
  if (typeof additional === 'object')
    append(errors, yield* checkStructure(additional, 'field', `${path}.additionalProperties`, slice))
  append(errors, checkExtensions(schema, path))
  append(errors, yield* checkNarrowing(schema, path, equalValues(schema.anyOf, intOrString), slice))
  append(errors, checkType(schema, level, path))
  if (isEmbedded && additional !== undefined)
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'))
  append(errors, checkMetadata(schema, level, path))
  if (isEmbedded && !schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(properties).length === 0)
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  return errors
}

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function checkType(schema: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const { type } = schema
  const at = `${path}.type`
  const errors: FieldError[] = []
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === undefined ? required(at, detail) : invalid(at, type, detail))
  } else if (
    type === undefined &&
    !schema['x-kubernetes-int-or-string'] &&
    !schema['x-kubernetes-preserve-unknown-fields']
  )
    errors.push(required(at, emptyType[level]))
  if (level === 'root' && type !== undefined && type !== 'object')
    errors.push(invalid(at, type, 'must be object at the root'))
  return errors
}

function checkExtensions(schema: JsonSchemaProps, path: string): FieldError[] {
  if (!schema['x-kubernetes-int-or-string']) return []
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((name) => schema[name])
    .map((name) => invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'))
}

/** The schema of metadata is fixed: a schema may only restrict its names. */
function checkMetadata({ properties = {}, ...schema }: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true
  const errors: FieldError[] = []
  for (const name of ['kind', 'apiVersion'] as const)
    if (isResource && properties[name] !== undefined && properties[name].type !== 'string')
      errors.push(invalid(`${path}.properties[${name}].type`, properties[name].type ?? '', 'must be string'))
  const { metadata } = properties
  const at = `${path}.properties[metadata]`
  if (metadata === undefined) return errors
  if (isResource && metadata.type !== 'object')
    errors.push(invalid(`${at}.type`, metadata.type ?? '', 'must be object'))
  const { type: _, default: __, properties: named = {}, ...others } = metadata
  const namesOnly = Object.keys(named).every((name) => name === 'name' || name === 'generateName')
  if (level === 'root' && (Object.keys(others).length > 0 || !namesOnly))
    errors.push(
      forbidden(at, 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
    )
  return errors
}

function* checkNarrowing(
  schema: JsonSchemaProps,
  path: string,
  skipsAnyOf: boolean,
  slice: Slice,
): Sliced<FieldError[]> {
  const errors: FieldError[] = []
  const skipsFirstAllOf = equalValues(schema.allOf?.[0]?.anyOf, intOrString)
  for (const [index, part] of (skipsAnyOf ? [] : (schema.anyOf ?? [])).entries())
    append(errors, yield* checkNested(part, `${path}.anyOf[${index}]`, false, slice))
  for (const [index, part] of (schema.allOf ?? []).entries())
    append(errors, yield* checkNested(part, `${path}.allOf[${index}]`, index === 0 && skipsFirstAllOf, slice))
  for (const [index, part] of (schema.oneOf ?? []).entries())
    append(errors, yield* checkNested(part, `${path}.oneOf[${index}]`, false, slice))
  if (schema.not !== undefined) append(errors, yield* checkNested(schema.not, `${path}.not`, false, slice))
  const wrong = patternError(schema.pattern ?? '')
  if (wrong !== undefined)
    errors.push(invalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${wrong}`))
  return errors
}

const forbiddenWithin: readonly (readonly [name: keyof JsonSchemaProps, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function* checkNested(schema: JsonSchemaProps, path: string, skipsAnyOf: boolean, slice: Slice): Sliced<FieldError[]> {
  if (slice.isUsedUp()) yield
  const errors = yield* checkNarrowing(schema, path, skipsAnyOf, slice)
  const item = itemOf(schema.items)
  if (item !== undefined) append(errors, yield* checkNested(item, `${path}.items`, false, slice))
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    append(errors, yield* checkNested(property, `${path}.properties[${name}]`, false, slice))
  for (const [name, detail] of forbiddenWithin)
    if (schema[name] !== undefined) errors.push(forbidden(`${path}.${name}`, detail))
  if (schema.properties?.['metadata'] !== undefined)
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  return errors
}

/** A restricted field must also be declared. `declared` is undefined where nothing is declared. */
function checkDeclared(
  schema: JsonSchemaProps | undefined,
  declared: JsonSchemaProps | undefined,
  path: string,
  schemaPath: string,
): FieldError[] {
  if (schema === undefined) return []
  if (declared === undefined) return [required(path, `because it is defined in ${schemaPath}`)]
  return [
    ...checkJunctors(schema, declared, path, schemaPath),
    ...checkDeclared(itemOf(schema.items), itemOf(declared.items), `${path}.items`, `${schemaPath}.items`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      checkDeclared(
        property,
        lookup(declared.properties, name),
        `${path}.properties[${name}]`,
        `${schemaPath}.properties[${name}]`,
      ),
    ),
  ]
}

const checkJunctors = (
  schema: JsonSchemaProps,
  declared: JsonSchemaProps,
  path: string,
  schemaPath: string,
): FieldError[] => [
  ...checkDeclared(schema.not, declared, path, `${schemaPath}.not`),
  ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (schema[name] ?? []).flatMap((part, index) =>
      checkDeclared(part, declared, path, `${schemaPath}.${name}[${index}]`),
    ),
  ),
]
