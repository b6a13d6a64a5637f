// Numbers: multipleOf, minimum, maximum, and the ranges of their formats.
import { goFloat } from '../../../../schema/validation/go-float.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import type { Check, Report } from './report.ts'
import { effectiveFormat, isInt64, isNearInteger } from './value-type.ts'
import { type Int64 } from '../../../../schema/scalar/int64.ts'

/** Undefined when the schema allows all numbers. */
export function numberCheck(schema: JsonSchemaProps): Check | undefined {
  const { type, multipleOf, minimum, maximum } = schema
  const hasBounds = multipleOf !== undefined || minimum !== undefined || maximum !== undefined
  const format = effectiveFormat(schema)
  if (!hasBounds && type !== 'integer' && format !== 'float') return undefined
  const inRange = rangeCheck(type, format)
  const checks = [
    ...(multipleOf === undefined ? [] : [multipleCheck(multipleOf, inRange)]),
    ...(minimum === undefined ? [] : [minimumCheck(minimum, schema.exclusiveMinimum === true, inRange)]),
    ...(maximum === undefined ? [] : [maximumCheck(maximum, schema.exclusiveMaximum === true, inRange)]),
  ]
  return (value, report) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') return true
    let isValid = inRange(value, 'Checked', report)
    for (const check of checks) {
      if (!isValid && report === undefined) return false
      if (!check(value, report)) isValid = false
    }
    return isValid
  }
}

/** Whether a number, which messages call by this name, has the type and format of the schema. */
type RangeCheck = (value: Int64, name: string, report: Report | undefined) => boolean
type NumberCheck = (value: Int64, report: Report | undefined) => boolean

const float32Max = 3.402_823_466_385_288_6e38

function rangeCheck(type: string | undefined, format: string | undefined): RangeCheck {
  const fits = (value: Int64): boolean => {
    // A bigint is an integer of 64 bits that is too large for 32.
    if (typeof value === 'bigint') return type !== 'integer' || format !== 'int32'
    if (type === 'integer')
      return format === 'int32' ? value === Math.trunc(value) && Math.abs(value + 0.5) < 2 ** 31 : isInt64(value)
    return type !== 'number' || format !== 'float' || Math.abs(value) <= float32Max
  }
  return (value, name, report) => {
    if (fits(value)) return true
    const form = format === undefined ? '(default format)' : `with format ${format}`
    report?.addGeneral(`${name} value must be of type ${type} ${form} in ${report.name}`)
    return false
  }
}

/**
 * Upstream compares integers with the integral part of a bound, unless the bound itself does not fit the type. Returns
 * the bound and its text.
 */
function boundFor(value: Int64, bound: number, boundFits: boolean): { readonly limit: number; readonly text: string } {
  if (!boundFits || (typeof value === 'number' && !isInt64(value))) return { limit: bound, text: goFloat(bound) }
  const limit = Math.min(Math.max(Math.trunc(bound), -(2 ** 63)), 2 ** 63)
  return { limit, text: limit === 2 ** 63 ? '9223372036854775807' : String(BigInt(limit)) }
}

function multipleCheck(factor: number, inRange: RangeCheck): NumberCheck {
  return (value, report) => {
    const factorFits = inRange(factor, 'MultipleOf', report)
    const { limit, text } = boundFor(value, factor, factorFits)
    const isPositive = limit > 0
    if (isPositive && isMultiple(value, limit)) return factorFits
    if (report === undefined) return false
    if (isPositive) report.addInvalid(value, `${report.name} in body should be a multiple of ${text}`)
    else report.addInvalid(limit, `factor MultipleOf declared for ${report.name} must be positive: ${text}`)
    return false
  }
}

function isMultiple(value: Int64, factor: number): boolean {
  if (typeof value === 'bigint' && Number.isInteger(factor)) return value % BigInt(factor) === 0n
  const double = Number(value)
  if (isInt64(double) && Number.isInteger(factor)) return double % factor === 0
  return isNearInteger(factor < 1 ? (1 / factor) * double : double / factor)
}

function minimumCheck(minimum: number, isExclusive: boolean, inRange: RangeCheck): NumberCheck {
  return (value, report) => {
    const boundFits = inRange(minimum, 'Minimum boundary', report)
    const { limit, text } = boundFor(value, minimum, boundFits)
    if (isExclusive ? value > limit : value >= limit) return boundFits
    report?.addInvalid(
      value,
      `${report.name} in body should be greater than ${isExclusive ? '' : 'or equal to '}${text}`,
    )
    return false
  }
}

function maximumCheck(maximum: number, isExclusive: boolean, inRange: RangeCheck): NumberCheck {
  return (value, report) => {
    const boundFits = inRange(maximum, 'Maximum boundary', report)
    const { limit, text } = boundFor(value, maximum, boundFits)
    if (isExclusive ? value < limit : value <= limit) return boundFits
    report?.addInvalid(value, `${report.name} in body should be less than ${isExclusive ? '' : 'or equal to '}${text}`)
    return false
  }
}
