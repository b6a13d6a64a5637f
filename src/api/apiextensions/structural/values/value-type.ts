// Types of values: the type keyword, together with format and x-kubernetes-int-or-string.
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts'
import type { JsonValue } from '../../../../schema/json/json-value.ts'
import { goQuoted } from '../../../../schema/json/go-quoted.ts'
import { typeInvalid } from '../../../../schema/validation/field-error.ts'
import { isKnownFormat } from '../../../validation/formats/value-formats.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import type { Check } from './report.ts'
import { type Int64 } from '../../../../schema/scalar/int64.ts'

type ValueType = 'null' | 'array' | 'object' | 'string' | 'boolean' | 'integer' | 'number'

function typeOf(value: JsonValue): ValueType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number'
  return typeof value as 'object' | 'string' | 'boolean'
}

/** A number beyond 2^53 that is not a bigint was not sent as an int64. */
export const isInteger = (value: Int64): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

/** Whether a bound of a schema, which is a double, is in the range of int64. */
export const isInt64 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

/** The format of a schema; undefined when upstream ignores it, because it is unknown or not one of the type. */
export function effectiveFormat({ type, format }: JsonSchemaProps): string | undefined {
  if (format === undefined) return undefined
  if (type === 'integer' || type === 'number') return numberFormats[type]?.includes(format) ? format : undefined // safe name: one of the two
  return (type === undefined || type === 'string') && isKnownFormat(format) ? format : undefined
}

const checks = new Map<string, Check>()

/** The check of a type. Schemas with equal types share it. Undefined when values of all types are allowed. */
export function typeCheck(schema: JsonSchemaProps): Check | undefined {
  const { type } = schema
  const types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : type === undefined ? [] : [type]
  const format = effectiveFormat(schema)
  if (types.length === 0 && format === undefined) return undefined
  const isNullable = schema.nullable === true || types.length === 0
  const key = `${types.join(',')} ${format ?? ''} ${isNullable}`
  return getOrInsert(checks, key, () => makeTypeCheck(types, format, isNullable))
}

function makeTypeCheck(types: readonly string[], format: string | undefined, isNullable: boolean): Check {
  const isNumeric = types.includes('integer') || types.includes('number')
  const isIncluded = (actual: ValueType, value: JsonValue) =>
    types.includes(actual) ||
    (actual === 'integer' && types.includes('number')) ||
    (actual === 'number' && types.includes('integer') && isNearInteger(value as number))
  return (value, report) => {
    const actual = typeOf(value)
    if (actual === 'null' ? isNullable : isIncluded(actual, value)) return true
    // Upstream compares formats instead of types where it has both, and accepts lists for formats of strings.
    const isTextOrList = actual === 'string' || actual === 'array'
    if (format !== undefined && isTextOrList && !isNumeric) return true
    if (report === undefined) return false
    const isFormatShown = format !== undefined && !isTextOrList && actual !== 'null'
    const shown = isFormatShown ? formatOf(actual) : actual
    const detail = `${report.name} in body must be of type ${isFormatShown ? format : types.join(',')}: ${goQuoted(shown)}`
    report.add(detail, (field) => typeInvalid(field, shown, detail))
    return false
  }
}

const formatOf = (type: ValueType): string => (type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '')

const integerErrorMax = 1e-9

/** Whether upstream accepts a floating point number as an integer: positive ones may differ a little. */
export function isNearInteger(value: number): boolean {
  if (Number.isInteger(value)) return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  const near = Math.trunc(value)
  if (near <= 0 || near > Number.MAX_SAFE_INTEGER) return false
  return (value - near) / (value + near) < integerErrorMax
}
