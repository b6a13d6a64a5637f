// Strings: length in code points, pattern and format. Only the first of length and pattern that is wrong is reported.
import type { Regex } from '../../../../cel/regex/regex.ts'
import { tooLong, typeInvalid } from '../../../../schema/validation/field-error.ts'
import { goQuoted } from '../../../../schema/json/go-quoted.ts'
import { hasFormat } from '../../../validation/formats/value-formats.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import { compilePattern } from '../../schema/schema-pattern.ts'
import type { PatternSearches } from './pattern-searches.ts'
import type { Check, Report } from './report.ts'
import { effectiveFormat } from './value-type.ts'

/** To compile a pattern takes about as long as this many instructions times characters of a search. */
const compilationWork = 10_000

type TextCheck = (text: string, report: Report | undefined, searches: PatternSearches) => boolean

/** Undefined when the schema allows all strings. */
export function stringCheck(schema: JsonSchemaProps): Check | undefined {
  const { maxLength, minLength, pattern } = schema
  const checks = [
    ...(maxLength === undefined ? [] : [maxLengthCheck(Number(maxLength))]),
    ...(minLength === undefined ? [] : [minLengthCheck(Number(minLength))]),
    ...(pattern === undefined || pattern === '' ? [] : [patternCheck(pattern)]),
  ]
  const format = schema.type === 'integer' || schema.type === 'number' ? undefined : effectiveFormat(schema)
  if (checks.length === 0 && format === undefined) return undefined
  return (value, report, _, searches) => {
    if (typeof value !== 'string') return true
    const isValid = checks.every((check) => check(value, report, searches))
    if (format === undefined || (!isValid && report === undefined)) return isValid
    return checkFormat(format, value, report) && isValid
  }
}

const maxLengthCheck =
  (max: number): TextCheck =>
  (text, report) => {
    if (text.length <= max || codePoints(text, max) <= max) return true
    report?.add(`at most ${max} chars`, (field) => tooLong(field, max))
    return false
  }

const minLengthCheck =
  (min: number): TextCheck =>
  (text, report) => {
    if (text.length >= 2 * min || codePoints(text, min) >= min) return true
    report?.addInvalid(text, `${report.name} in body should be at least ${min} chars long`)
    return false
  }

/** The number of code points. Counting ends after `enough`. */
function codePoints(text: string, enough: number): number {
  let count = 0
  for (const _ of text) if (++count > enough) break
  return count
}

function patternCheck(pattern: string): TextCheck {
  let compiled: Regex | string | undefined
  return (text, report, searches) => {
    if (compiled === undefined) {
      compiled = compilePattern(pattern)
      searches.did(compilationWork)
    }
    if (typeof compiled !== 'string' && searches.find(compiled, text)) return true
    const why = typeof compiled === 'string' ? `, but pattern is invalid: ${compiled}` : ''
    report?.addInvalid(text, `${report.name} in body should match '${pattern}${why}'`)
    return false
  }
}

function checkFormat(format: string, text: string, report: Report | undefined): boolean {
  if (hasFormat(format, text)) return true
  if (report !== undefined) {
    const { name } = report
    report.add(`of type ${format}`, (field) =>
      typeInvalid(field, text, `${name} in body must be of type ${format}: ${goQuoted(text)}`),
    )
  }
  return false
}
