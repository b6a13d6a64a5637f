// Validates values against a schema: defaults, and later custom resources. The messages are those of upstream's
// validator for each keyword.
import { lookup } from '../../../base/collections/lookup.ts'
import { append } from '../../../base/collections/append.ts'
import {
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { equalValues, isJsonObject } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { matchesPattern } from './schema-pattern.ts'
import { hasFormat } from '../../validation/value-formats.ts'

/**
 * The position of a value: its path in the response, and its name in messages, which is relative to the validated
 * value.
 */
interface Place {
  readonly path: string
  readonly name: string
}

export const validateValue = (schema: JsonSchemaProps, value: unknown, path: string): FieldError[] =>
  checkValue(schema, value, { path, name: '' })

const below = ({ path, name }: Place, key: string): Place => ({
  path: `${path}.${key}`,
  name: name === '' ? key : `${name}.${key}`,
})

const at = ({ path, name }: Place, index: number): Place => ({
  path: `${path}[${index}]`,
  name: `${name}[${index}]`,
})

function checkValue(schema: JsonSchemaProps, value: unknown, place: Place): FieldError[] {
  if (value === null && schema.nullable) return []
  return [
    ...checkType(schema, value, place),
    ...(schema.enum === undefined || schema.enum.some((allowed) => equalValues(allowed, value) || allowed === value)
      ? []
      : [notSupported(place.path, value, schema.enum.map(enumText))]),
    ...(typeof value === 'number' ? checkNumber(schema, value, place) : []),
    ...(typeof value === 'string' ? checkString(schema, value, place) : []),
    ...(Array.isArray(value) ? checkArray(schema, value, place) : []),
    ...(isJsonObject(value) ? checkObject(schema, value, place) : []),
    ...checkJunctors(schema, value, place),
  ]
}

const enumText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function checkType(schema: JsonSchemaProps, value: unknown, { path, name }: Place): FieldError[] {
  const wanted = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : []
  const actual = typeOf(value)
  const fits = wanted.includes(actual) || (actual === 'integer' && wanted.includes('number'))
  if (wanted.length === 0 || fits) return []
  return [typeInvalid(path, actual, `${name} in body must be of type ${wanted.join(',')}: ${JSON.stringify(actual)}`)]
}

function checkNumber(schema: JsonSchemaProps, value: number, { path, name }: Place): FieldError[] {
  const errors: FieldError[] = []
  const reject = (detail: string) => errors.push(invalid(path, value, `${name} in body should be ${detail}`))
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum, type, format } = schema
  const form = format === undefined ? '(default format)' : `with format ${format}`
  const bounds = { Checked: value, MultipleOf: multipleOf, 'Maximum boundary': maximum, 'Minimum boundary': minimum }
  for (const [what, number] of Object.entries(bounds))
    if (type === 'integer' && number !== undefined && !fitsInteger(number, format))
      errors.push(invalid(path, '', `${what} value must be of type integer ${form} in ${name}`))
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) reject(`a multiple of ${multipleOf}`)
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    reject(`less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`)
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    reject(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`)
  return errors
}

const fitsInteger = (value: number, format: string | undefined): boolean =>
  Number.isInteger(value) && (format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31))

function checkString(schema: JsonSchemaProps, value: string, { path, name }: Place): FieldError[] {
  const { maxLength, minLength, pattern, format, type } = schema
  const length = maxLength === undefined && minLength === undefined ? 0 : Array.from(value).length
  const errors: FieldError[] = []
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(path, maxLength))
  if (minLength !== undefined && length < minLength)
    errors.push(invalid(path, value, `${name} in body should be at least ${minLength} chars long`))
  if (pattern !== undefined && !matchesPattern(pattern, value))
    errors.push(invalid(path, value, `${name} in body should match '${pattern}'`))
  if (type === 'string' && format !== undefined && !hasFormat(format, value))
    errors.push(typeInvalid(path, value, `${name} in body must be of type ${format}: ${JSON.stringify(value)}`))
  return errors
}

function checkArray(schema: JsonSchemaProps, value: readonly unknown[], place: Place): FieldError[] {
  const { maxItems, minItems, items } = schema
  const errors: FieldError[] = []
  if (isJsonObject(items))
    for (const [index, item] of value.entries()) append(errors, checkValue(items, item, at(place, index)))
  if (minItems !== undefined && value.length < minItems)
    errors.push(invalid(place.path, value.length, `${place.name} in body should have at least ${minItems} items`))
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(place.path, value.length, maxItems))
  return errors
}

function checkObject(schema: JsonSchemaProps, value: object, place: Place): FieldError[] {
  const { maxProperties, minProperties, properties = {}, additionalProperties } = schema
  const entries = Object.entries(value) as [string, unknown][]
  const errors: FieldError[] = []
  if (minProperties !== undefined && entries.length < minProperties)
    errors.push(
      invalid(place.path, entries.length, `${place.name} in body should have at least ${minProperties} properties`),
    )
  if (maxProperties !== undefined && entries.length > maxProperties)
    errors.push(tooMany(place.path, entries.length, maxProperties))
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(value, name)) errors.push(required(below(place, name).path))
  for (const [name, item] of entries) {
    const property = Object.hasOwn(properties, name) ? lookup(properties, name) : additionalProperties
    if (typeof property === 'object') append(errors, checkValue(property, item, below(place, name)))
  }
  return errors
}

function checkJunctors(schema: JsonSchemaProps, value: unknown, place: Place): FieldError[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema
  const fits = (part: JsonSchemaProps) => checkValue(part, value, place).length === 0
  const name = JSON.stringify(place.name)
  const errors: FieldError[] = []
  const reject = (detail: string) => errors.push(invalid(place.path, '', `${name} must ${detail}`))
  if (anyOf.length > 0 && !anyOf.some(fits)) reject('validate at least one schema (anyOf)')
  if (oneOf.length > 0) {
    const fitting = oneOf.filter(fits).length
    const found = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`
    if (fitting !== 1) reject(`validate one and only one schema (oneOf). ${found}`)
  }
  const broken = allOf.flatMap((part) => checkValue(part, value, place))
  if (broken.length > 0) {
    append(errors, broken)
    reject(`validate all the schemas (allOf)${allOf.some(fits) ? '' : '. None validated'}`)
  }
  if (not !== undefined && fits(not)) reject('not validate the schema (not)')
  return errors
}
