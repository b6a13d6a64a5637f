// Validates values against a schema: objects of custom resources, and the defaults in a schema. A schema is compiled to
// closures, its parts when a value first needs them. The errors are those of upstream's validator, in its order.
import type { Slice, Sliced } from '../../../../base/work/work-slice.ts'
import type { JsonValue } from '../../../../schema/json/json-value.ts'
import type { FieldError } from '../../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import { enumCheck } from './enum-check.ts'
import { junctorChecks } from './junctor-checks.ts'
import { listCheck } from './list-check.ts'
import { numberCheck } from './number-check.ts'
import { objectCheck } from './object-check.ts'
import { PatternSearches } from './pattern-searches.ts'
import { Report, type Check } from './report.ts'
import { stringCheck } from './string-check.ts'
import { typeCheck } from './value-type.ts'

/** The errors of a value. `path` is the path of the value in them; an object of the API has none. */
export function* validateValue(
  check: Check,
  value: JsonValue,
  path: string,
  old: JsonValue | undefined,
  slice: Slice,
): Sliced<FieldError[]> {
  if (yield* searching(slice, (searches) => check(value, undefined, undefined, searches))) return []
  return yield* searching(slice, (searches) => {
    const report = new Report(path)
    check(value, report, old, searches)
    return report.errors
  })
}

function* searching<T>(slice: Slice, validate: (searches: PatternSearches) => T): Sliced<T> {
  const searches = new PatternSearches(slice)
  for (;;) {
    const result = searches.attempt(validate)
    if (result !== undefined) return result
    yield
  }
}

const acceptAll: Check = () => true

export const valueCheck = (schema: JsonSchemaProps): Check => newCheck(schema, typeCheck, valueCheck)

/** The check of a default: upstream accepts values of all types for x-kubernetes-int-or-string. */
export const defaultCheck = (schema: JsonSchemaProps): Check => newCheck(schema, defaultTypeCheck, defaultCheck)

const defaultTypeCheck = (schema: JsonSchemaProps): Check | undefined =>
  schema['x-kubernetes-int-or-string'] ? undefined : typeCheck(schema)

function newCheck(
  schema: JsonSchemaProps,
  typeCheckOf: (schema: JsonSchemaProps) => Check | undefined,
  compile: (schema: JsonSchemaProps) => Check,
): Check {
  const ofType = typeCheckOf(schema)
  const allowed = enumCheck(schema)
  const junctors = junctorChecks(schema, compile)
  const checks = [
    ofType,
    ...junctors,
    stringCheck(schema),
    numberCheck(schema),
    listCheck(schema, compile),
    allowed,
    objectCheck(schema, compile),
  ].filter((check) => check !== undefined)
  const [only = acceptAll] = checks
  if (checks.length <= 1 && junctors.length === 0) return only
  // Upstream looks at nothing else of null.
  const nullChecks = [ofType, allowed].filter((check) => check !== undefined)
  return (value, report, old, searches) => {
    let isValid = true
    for (const check of value === null ? nullChecks : checks) {
      if (check(value, report, old, searches)) continue
      if (report === undefined) return false
      isValid = false
    }
    return isValid
  }
}
