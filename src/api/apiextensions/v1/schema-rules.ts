// OpenAPI rules of a schema: the keywords that upstream supports, list and map types, and the form of validation rules.
import { lookup } from '../../../base/collections/lookup.ts'
import { append } from '../../../base/collections/append.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { areRepeated } from '../../../base/collections/first-indexes.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps, ValidationRule } from '../schema/json-schema-props.ts'
import {
  itemsContext,
  propertyContext as rulesOfProperty,
  rootContext,
  RuleExpressions,
  valuesContext,
  type RuleContext,
} from './rule-expressions.ts'
import { resolveFieldPath } from '../schema/schema-paths.ts'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const listTypes = ['atomic', 'set', 'map']
const mapTypes = ['atomic', 'granular']
const ruleReasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const metaFields = new Set(['metadata', 'kind', 'apiVersion'])

/** What the position of a schema in the tree forbids. */
interface Place {
  readonly isRoot: boolean
  readonly isInMetadata: boolean
  /** Why defaults are forbidden here; undefined when they are allowed. */
  readonly noDefaults: string | undefined
  /** The context of its rules; undefined where rules are not checked. */
  readonly rules: RuleContext | undefined
}

/** Expressions are checked in structural schemas only, and their errors come after all others. */
export function* validateOpenApiSchema(
  schema: JsonSchemaProps,
  path: string,
  isStructural: boolean,
  slice: Slice,
): Sliced<FieldError[]> {
  const expressions = new RuleExpressions(slice)
  const rules = isStructural ? rootContext : undefined
  const place = { isRoot: true, isInMetadata: false, noDefaults: undefined, rules }
  const errors = yield* checkSchema(schema, path, place, { expressions, slice })
  return [...errors, ...expressions.end(path)]
}

/** What the checks of all schemas of a version share. */
interface Checks {
  readonly expressions: RuleExpressions
  readonly slice: Slice
}

/** Errors of a schema or of its children suppress the errors of its expressions. */
function* checkSchema(schema: JsonSchemaProps, path: string, place: Place, checks: Checks): Sliced<FieldError[]> {
  if (checks.slice.isUsedUp()) yield
  const errors = [
    ...checkSupported(schema, path, place),
    ...(schema.uniqueItems
      ? [
          forbidden(
            `${path}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(yield* checkChildren(schema, path, place, checks)),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...checkMapType(schema, path),
    ...checkListType(schema, path),
    ...checkListMap(schema, path),
    ...checkListItems(schema, path),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) =>
      checkRule(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
    ),
  ]
  if (errors.length === 0 && place.rules !== undefined) yield* checks.expressions.check(schema, path, place.rules)
  return errors
}

function checkSupported(schema: JsonSchemaProps, path: string, { noDefaults, isInMetadata }: Place): FieldError[] {
  const errors: FieldError[] = []
  const unsupported = (name: keyof JsonSchemaProps) =>
    errors.push(forbidden(`${path}.${name}`, `${name} is not supported`))
  if (schema.type !== undefined && !types.includes(schema.type))
    errors.push(notSupported(`${path}.type`, schema.type, types))
  if (schema.default !== undefined && noDefaults !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`))
  if (schema.id !== undefined) unsupported('id')
  if (schema.additionalItems !== undefined) unsupported('additionalItems')
  for (const name of ['patternProperties', 'definitions', 'dependencies'] as const)
    if (schema[name] !== undefined) unsupported(name)
  if (schema.$ref !== undefined) unsupported('$ref')
  if (schema.type === 'null')
    errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  if (Array.isArray(schema.items) && schema.items.length > 0)
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  if (isInMetadata && schema['x-kubernetes-embedded-resource'])
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  return errors
}

const isSchema = (value: unknown): value is JsonSchemaProps =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sortedEntries = <T>(map: Readonly<Record<string, T>> = {}): [string, T][] =>
  Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1))

function* checkChildren(schema: JsonSchemaProps, path: string, place: Place, checks: Checks): Sliced<FieldError[]> {
  const inner = { ...place, isRoot: false, rules: undefined }
  const child = function* (value: unknown, at: string, within: Place = inner): Sliced<FieldError[]> {
    return isSchema(value) ? yield* checkSchema(value, `${path}.${at}`, within, checks) : []
  }
  const rulesOf = (make: (rules: RuleContext) => RuleContext) =>
    place.rules === undefined ? undefined : make(place.rules)
  const { additionalProperties: additional, properties = {}, items } = schema
  const errors: FieldError[] = []
  if (additional !== undefined) {
    if (Object.keys(properties).length > 0 && additional !== true)
      errors.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'))
    const within = { ...inner, rules: rulesOf((rules) => valuesContext(rules, schema)) }
    const noDefaults = place.isInMetadata ? 'inside additionalProperties applying to object metadata' : inner.noDefaults
    append(errors, yield* child(additional, 'additionalProperties', { ...within, noDefaults }))
  }
  for (const [name, property] of sortedEntries(properties))
    append(errors, yield* child(property, `properties[${name}]`, propertyPlace(schema, name, place)))
  append(errors, yield* child(schema.not, 'not'))
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const)
    for (const [index, part] of (schema[name] ?? []).entries()) append(errors, yield* child(part, `${name}[${index}]`))
  for (const [name, definition] of sortedEntries(schema.definitions))
    append(errors, yield* child(definition, `definitions[${name}]`))
  for (const [index, item] of (Array.isArray(items) ? items : []).entries())
    append(errors, yield* child(item, `items[${index}]`))
  append(
    errors,
    yield* child(items, 'items', { ...inner, rules: rulesOf((rules) => itemsContext(rules, schema, path)) }),
  )
  for (const [name, dependency] of sortedEntries(schema.dependencies))
    append(errors, yield* child(dependency, `dependencies[${name}]`))
  return errors
}

function propertyPlace(schema: JsonSchemaProps, name: string, place: Place): Place {
  const rules = place.rules === undefined ? undefined : rulesOfProperty(place.rules)
  const inner = { ...place, isRoot: false, rules }
  if (!metaFields.has(name) || !(place.isRoot || schema['x-kubernetes-embedded-resource'])) return inner
  return { ...inner, isInMetadata: true, noDefaults: place.isRoot ? `in top-level ${name}` : place.noDefaults }
}

/** `type` must have this value: a missing one is required, any other is invalid. */
const wrongType = (schema: JsonSchemaProps, path: string, detail: string): FieldError =>
  schema.type === undefined ? required(`${path}.type`, detail) : invalid(`${path}.type`, schema.type, detail)

function checkMapType(schema: JsonSchemaProps, path: string): FieldError[] {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return []
  return [
    ...(schema.type === 'object'
      ? []
      : [wrongType(schema, path, 'must be object if x-kubernetes-map-type is specified')]),
    ...(mapTypes.includes(mapType) ? [] : [notSupported(`${path}.x-kubernetes-map-type`, mapType, mapTypes)]),
  ]
}

function checkListType(schema: JsonSchemaProps, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const at = `${path}.x-kubernetes-list-type`
  const errors: FieldError[] = []
  if (listType !== undefined && schema.type !== 'array')
    errors.push(wrongType(schema, path, 'must be array if x-kubernetes-list-type is specified'))
  else if (listType === 'set' && isSchema(schema.items)) append(errors, checkSetItems(schema.items, `${path}.items`))
  if (listType !== undefined && !listTypes.includes(listType)) errors.push(notSupported(at, listType, listTypes))
  const mustBeMap = 'must be map if x-kubernetes-list-map-keys is non-empty'
  if (keys.length > 0 && listType === undefined) errors.push(required(at, mustBeMap))
  if (keys.length > 0 && listType !== undefined && listType !== 'map') errors.push(invalid(at, listType, mustBeMap))
  return errors
}

function checkSetItems(items: JsonSchemaProps, path: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { type, 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': mapType } = items
  if (type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)]
  if (type === 'object' && mapType !== 'atomic') return [invalid(`${path}.x-kubernetes-map-type`, listType, detail)]
  return []
}

function checkListMap(schema: JsonSchemaProps, path: string): FieldError[] {
  if (schema['x-kubernetes-list-type'] !== 'map') return []
  const { items } = schema
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keysPath = `${path}.x-kubernetes-list-map-keys`
  const errors: FieldError[] = []
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'))
  if (items === undefined)
    return [...errors, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')]
  if (!isSchema(items)) {
    // Upstream shows the value as its internal type, with Go's field names.
    const shown = { Schema: null, JSONSchemas: items }
    const detail = 'must only have a single schema if x-kubernetes-list-type is map'
    return [...errors, invalid(`${path}.items`, shown, detail)]
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    return [...errors, invalid(`${path}.items.type`, items.type ?? '', detail)]
  }
  const repeated = areRepeated(keys)
  for (const [index, key] of keys.entries()) {
    const type = lookup(items.properties, key)?.type
    if (lookup(items.properties, key) === undefined)
      errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'))
    else if (type === 'array' || type === 'object')
      errors.push(
        invalid(
          `${path}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      )
    if (repeated[index]) errors.push(invalid(keysPath, keys, 'must not contain duplicate entries'))
  }
  return errors
}

function checkListItems(schema: JsonSchemaProps, path: string): FieldError[] {
  const { items, 'x-kubernetes-list-type': listType } = schema
  if (!isSchema(items) || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  if (items.nullable)
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  for (const key of listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []) {
    const property = lookup(items.properties, key)
    if (property === undefined) continue
    const at = `${path}.items.properties[${key}]`
    if (!items.required?.includes(key) && property.default === undefined)
      errors.push(
        required(
          `${at}.default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
    if (property.nullable)
      errors.push(
        forbidden(`${at}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
      )
  }
  return errors
}

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text)

function checkRule(rule: ValidationRule, schema: JsonSchemaProps, path: string): FieldError[] {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const errors: FieldError[] = []
  if (rule.rule.trim() === '') errors.push(required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '')
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'))
  else if (hasLineBreak(message.trim()))
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
  else if (hasLineBreak(rule.rule.trim()) && message === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  if (reason !== undefined && !ruleReasons.includes(reason))
    errors.push(notSupported(`${path}.reason`, reason, ruleReasons))
  if (fieldPath !== '' && fieldPath.trim() === '')
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreak(fieldPath)) errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  if (fieldPath !== '' && resolveFieldPath(schema, fieldPath).kind === 'wrong')
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  return errors
}
