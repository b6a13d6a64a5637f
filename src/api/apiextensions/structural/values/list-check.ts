// Lists: the schema of the items, and their number.
import { isJsonObject, type JsonValue } from '../../../../schema/json/json-value.ts'
import { tooMany } from '../../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import { correlateItems, isUnchanged } from './correlation.ts'
import type { PatternSearches } from './pattern-searches.ts'
import type { Check, Report } from './report.ts'

/** Undefined when the schema allows all lists. */
export function listCheck(schema: JsonSchemaProps, compile: (schema: JsonSchemaProps) => Check): Check | undefined {
  const { minItems, maxItems } = schema
  const items = isJsonObject(schema.items) ? (schema.items as JsonSchemaProps) : undefined
  if (items === undefined && minItems === undefined && maxItems === undefined) return undefined
  let itemCheck: Check | undefined
  return (value, report, old, searches) => {
    if (!Array.isArray(value)) return true
    const list = value as readonly JsonValue[]
    let isValid = true
    if (items !== undefined && list.length > 0) {
      const check = (itemCheck ??= compile(items))
      isValid =
        report === undefined
          ? areValid(list, check, searches)
          : reportItems(
              list,
              (item, before) => check(item, report, before, searches),
              report,
              correlateItems(schema, list, old),
              items,
            )
    }
    if (report === undefined)
      return isValid && list.length >= (minItems ?? 0) && list.length <= (maxItems ?? list.length)
    return checkCount(list.length, schema, report) && isValid
  }
}

function areValid(list: readonly JsonValue[], check: Check, searches: PatternSearches): boolean {
  for (const item of list) if (!check(item, undefined, undefined, searches)) return false
  return true
}

function reportItems(
  list: readonly JsonValue[],
  isValidItem: (item: JsonValue, old: JsonValue | undefined) => boolean,
  report: Report,
  oldItems: readonly (JsonValue | undefined)[] | undefined,
  schema: JsonSchemaProps,
): boolean {
  let isValid = true
  for (const [index, item] of list.entries()) {
    const old = oldItems?.[index]
    const isItemValid = report.below(
      `[${index}]`,
      item,
      () => isValidItem(item, old),
      () => isUnchanged(schema, item, old),
    )
    if (!isItemValid) isValid = false
  }
  return isValid
}

function checkCount(count: number, { minItems, maxItems }: JsonSchemaProps, report: Report): boolean {
  if (minItems !== undefined && count < minItems) {
    report.addInvalid(count, `${report.name} in body should have at least ${minItems} items`)
    return false
  }
  if (maxItems === undefined || count <= maxItems) return true
  report.add(`at most ${maxItems} items`, (field) => tooMany(field, count, Number(maxItems)))
  return false
}
