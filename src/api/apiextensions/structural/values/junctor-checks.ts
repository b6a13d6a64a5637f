// Junctors: anyOf, oneOf, allOf and not. Their schemas are not ratcheted: they see no old values.
import type { JsonValue } from '../../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import type { PatternSearches } from './pattern-searches.ts'
import type { Check, Report } from './report.ts'

type Compile = (schema: JsonSchemaProps) => Check

/** The checks of a schema's junctors, in the order of upstream's errors. */
export const junctorChecks = (
  { anyOf = [], oneOf = [], allOf = [], not }: JsonSchemaProps,
  compile: Compile,
): Check[] => [
  ...(anyOf.length === 0 ? [] : [anyOfCheck(anyOf.map(compile))]),
  ...(oneOf.length === 0 ? [] : [oneOfCheck(oneOf.map(compile))]),
  ...(allOf.length === 0 ? [] : [allOfCheck(allOf.map(compile))]),
  ...(not === undefined ? [] : [notCheck(compile(not))]),
]

const accepts = (check: Check, value: JsonValue, searches: PatternSearches): boolean =>
  check(value, undefined, undefined, searches)

function anyOfCheck(parts: readonly Check[]): Check {
  return (value, report, _, searches) => {
    const accepting = parts.find((part) => accepts(part, value, searches))
    if (report === undefined || accepting !== undefined) return isAccepted(accepting, value, report, searches)
    report.addGeneral(`"${report.name}" must validate at least one schema (anyOf)`)
    report.merge(bestReport(parts, value, report, searches))
    return false
  }
}

function oneOfCheck(parts: readonly Check[]): Check {
  return (value, report, _, searches) => {
    const accepting = parts.filter((part) => accepts(part, value, searches))
    if (report === undefined || accepting.length === 1)
      return accepting.length === 1 && isAccepted(accepting[0], value, report, searches)
    const found = accepting.length === 0 ? 'Found none valid' : `Found ${accepting.length} valid alternatives`
    report.addGeneral(`"${report.name}" must validate one and only one schema (oneOf). ${found}`)
    if (accepting.length === 0) report.merge(bestReport(parts, value, report, searches))
    return false
  }
}

/** Counts the matches of the schema that accepts the value, if there is one. */
function isAccepted(
  part: Check | undefined,
  value: JsonValue,
  report: Report | undefined,
  searches: PatternSearches,
): boolean {
  if (part === undefined) return false
  if (report !== undefined) report.merge(reportOf(part, value, report, searches))
  return true
}

function allOfCheck(parts: readonly Check[]): Check {
  return (value, report, _, searches) => {
    let accepted = 0
    for (const part of parts) {
      report?.visit(value)
      if (part(value, report, undefined, searches)) accepted++
      else if (report === undefined) return false
    }
    if (accepted === parts.length) return true
    report?.addGeneral(
      `"${report.name}" must validate all the schemas (allOf)${accepted === 0 ? '. None validated' : ''}`,
    )
    return false
  }
}

function notCheck(part: Check): Check {
  return (value, report, _, searches) => {
    if (!accepts(part, value, searches)) return true
    report?.addGeneral(`"${report.name}" must not validate the schema (not)`)
    return false
  }
}

/** Of alternatives that all reject the value, the report of the one with the most matches. */
function bestReport(parts: readonly Check[], value: JsonValue, outer: Report, searches: PatternSearches): Report {
  let best: Report | undefined
  for (const part of parts) {
    const report = reportOf(part, value, outer, searches)
    if (best === undefined || report.matches > best.matches) best = report
  }
  return best ?? outer.nested()
}

function reportOf(part: Check, value: JsonValue, outer: Report, searches: PatternSearches): Report {
  const report = outer.nested()
  report.visit(value)
  part(value, report, undefined, searches)
  return report
}
