// Objects: the schemas of properties, which of them are required, and their number.
import { lookup } from '../../../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../schema/json/json-value.ts'
import { required, tooMany } from '../../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import { isUnchanged, propertySchema } from './correlation.ts'
import type { PatternSearches } from './pattern-searches.ts'
import type { Check, Report } from './report.ts'

type Compile = (schema: JsonSchemaProps) => Check

interface Reporting {
  readonly report: Report
  readonly old: JsonValue | undefined
  readonly searches: PatternSearches
}

/** Undefined when the schema allows all objects. */
export function objectCheck(schema: JsonSchemaProps, compile: Compile): Check | undefined {
  const { properties, additionalProperties: additional, required: names = [] } = schema
  const isLimited = schema.minProperties !== undefined || schema.maxProperties !== undefined
  const hasProperties = properties !== undefined || (additional !== undefined && additional !== true)
  if (!hasProperties && names.length === 0 && !isLimited) return undefined
  const checkOf = propertyChecks(schema, compile)
  return (value, report, old, searches) => {
    if (!isJsonObject(value)) return true
    let isValid = !isLimited || checkCount(value, schema, report)
    if (report === undefined)
      return isValid && (!hasProperties || areValid(value, searches)) && checkRequired(names, value, report)
    // Upstream's order is random.
    for (const name of hasProperties ? Object.keys(value).toSorted() : []) {
      const item = lookup(value, name)
      if (item !== undefined && !reportProperty(name, item, { report, old, searches })) isValid = false
    }
    return checkRequired(names, value, report) && isValid
  }

  function areValid(object: JsonObject, searches: PatternSearches): boolean {
    for (const name in object) {
      const item = object[name] // safe name: an own property, unless a prototype was given enumerable ones
      if (item === undefined) continue
      const check = checkOf(name)
      if (check === undefined ? additional === false : !check(item, undefined, undefined, searches)) return false
    }
    return true
  }

  function reportProperty(name: string, item: JsonValue, { report, old, searches }: Reporting): boolean {
    const check = checkOf(name)
    if (check === undefined) return additional !== false || forbid(name, report)
    const oldItem = isJsonObject(old) ? lookup(old, name) : undefined
    const isValueOfMap = lookup(properties, name) === undefined
    return report.below(
      isValueOfMap ? report.stepToValue(name) : `.${name}`,
      item,
      () => check(item, report, oldItem, searches),
      () => isUnchanged(propertySchema(schema, name), item, oldItem),
    )
  }
}

/** The checks of properties by name. They are compiled when a property is first seen. */
function propertyChecks(schema: JsonSchemaProps, compile: Compile): (name: string) => Check | undefined {
  const { additionalProperties: additional } = schema
  const compiled = new Map<string, Check>()
  let others: Check | undefined
  return (name) => {
    const known = compiled.get(name)
    if (known !== undefined) return known
    const property = lookup(schema.properties, name)
    if (property === undefined) return typeof additional === 'object' ? (others ??= compile(additional)) : undefined
    const check = compile(property)
    compiled.set(name, check)
    return check
  }
}

function forbid(name: string, report: Report): false {
  const path = report.name === '' ? name : `${report.name}.${name}`
  report.addInvalid(name, `${path} in body is a forbidden property`)
  return false
}

function checkRequired(names: readonly string[], value: JsonObject, report: Report | undefined): boolean {
  let isValid = true
  for (const name of names) {
    if (lookup(value, name) !== undefined) continue
    if (report === undefined) return false
    report.add('required', (field) => required(field), name)
    isValid = false
  }
  return isValid
}

function checkCount(
  value: JsonObject,
  { minProperties, maxProperties }: JsonSchemaProps,
  report: Report | undefined,
): boolean {
  let count = 0
  for (const name in value) if (value[name] !== undefined) count++ // safe name: an own property
  if (minProperties !== undefined && count < minProperties) {
    report?.addInvalid(count, `${report.name} in body should have at least ${minProperties} properties`)
    return false
  }
  if (maxProperties === undefined || count <= maxProperties) return true
  report?.add(`at most ${maxProperties} properties`, (field) => tooMany(field, count, Number(maxProperties)))
  return false
}
