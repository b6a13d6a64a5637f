// Expressions of x-kubernetes-validations: whether they compile, and their estimated cost in the largest possible request.
import type { Int64 } from '../../../schema/scalar/int64.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { estimateCost } from '../../../cel/cost/estimate.ts'
import { compileInSlices, type Program } from '../../../cel/program.ts'
import { ExpressionError } from '../../../cel/syntax/source.ts'
import { cardinalityMax, structuralType, type SizedType } from '../../../cel/types/structural-type.ts'
import { optionalOf, type CelType } from '../../../cel/types/cel-type.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import { forbidden, internalError, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { apiEnvironment } from '../../expressions/api-environment.ts'
import { invalidGoObject } from '../../expressions/expression-errors.ts'
import { usesIdentifier } from '../../../cel/syntax/uses-identifier.ts'
import type { JsonSchemaProps, ValidationRule } from '../schema/json-schema-props.ts'

/** Cost limits: of one rule, multiplied by how often a request can run it; and of all rules of a version together. */
const ruleCostMax = 10_000_000
const schemaCostMax = 100_000_000
/** Rules of a schema without a type, which preserves unknown fields. */
const untyped =
  'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
/** The number of most expensive rules that are named when the total exceeds its limit. */
const namedCostlyMax = 4

/**
 * The context of a schema's rules: how often a request can contain the schema, and whether its old value can be
 * found.
 */
export interface RuleContext {
  readonly isRoot: boolean
  /** undefined: only limited by the size of a request. */
  readonly cardinality: number | undefined
  /** The enclosing list whose elements cannot be correlated with old ones, if any. */
  readonly uncorrelatable: string | undefined
}

export const rootContext: RuleContext = { isRoot: true, cardinality: 1, uncorrelatable: undefined }

export const itemsContext = (place: RuleContext, schema: JsonSchemaProps, path: string): RuleContext => ({
  isRoot: false,
  cardinality: multiplied(place.cardinality, schema.maxItems),
  uncorrelatable: schema['x-kubernetes-list-type'] === 'map' ? place.uncorrelatable : (place.uncorrelatable ?? path),
})

export const valuesContext = (place: RuleContext, schema: JsonSchemaProps): RuleContext => ({
  ...place,
  isRoot: false,
  cardinality: multiplied(place.cardinality, schema.maxProperties),
})

export const propertyContext = (place: RuleContext): RuleContext => ({ ...place, isRoot: false })

const multiplied = (count: number | undefined, by: Int64 | undefined): number | undefined =>
  count === undefined || by === undefined ? undefined : count * Number(by)

/** Collects the errors of the expressions of all rules of a version. */
export class RuleExpressions {
  readonly errors: FieldError[] = []
  readonly #costs: { readonly path: string; readonly cost: number }[] = []
  readonly #slice: Slice

  constructor(slice: Slice) {
    this.#slice = slice
  }

  *check(schema: JsonSchemaProps, path: string, place: RuleContext): Sliced<void> {
    const rules = schema['x-kubernetes-validations'] ?? []
    if (rules.length === 0) return
    const type = structuralType(schema, 'selfType', place.isRoot)
    if (type === undefined) {
      this.errors.push(internalError(`${path}.x-kubernetes-validations`, untyped))
      return
    }
    for (const [index, rule] of rules.entries())
      if (rule.rule.trim() !== '') yield* this.#rule(rule, type, `${path}.x-kubernetes-validations[${index}]`, place)
  }

  /** Checks the total cost. To be called after all rules. */
  end(path: string): FieldError[] {
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0)
    if (total <= schemaCostMax) return this.errors
    const costliest = this.#costs.toSorted((a, b) => b.cost - a.cost).slice(0, namedCostlyMax)
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.errors,
      ...costliest.map((each) => forbidden(each.path, why)),
      forbidden(path, tooCostly(name, total, schemaCostMax)),
    ]
  }

  *#rule(rule: ValidationRule, type: SizedType, path: string, place: RuleContext): Sliced<void> {
    const { messageExpression = '' } = rule
    const environment = apiEnvironment.with({
      self: type.type,
      oldSelf: rule.optionalOldSelf ? optionalOf(type.type) : type.type,
    })
    const wrong = (at: string, detail: string): void => {
      this.errors.push(invalidGoObject(at, shown(rule), detail))
    }
    const program = yield* compiled(rule.rule, environment, 'bool', this.#slice)
    if (typeof program === 'string') {
      wrong(`${path}.rule`, program)
      this.#optionalOldSelf(rule, path)
      return
    }
    const times = place.cardinality ?? cardinalityMax(type.bytesMin)
    this.#cost(program, type.type, times, `${path}.rule`, 'estimated rule cost')
    if (messageExpression.trim() !== '') {
      const at = `${path}.messageExpression`
      const message = yield* compiled(messageExpression, environment, 'string', this.#slice)
      if (typeof message === 'string') wrong(at, message)
      else this.#cost(message, type.type, 1, at, 'estimated messageExpression cost')
    }
    this.#oldSelf(rule, program, path, place)
  }

  #cost({ tree, checked }: Program, self: CelType, times: number, path: string, name: string): void {
    const cost = estimateCost(tree, checked, self).max * times
    this.#costs.push({ path, cost })
    if (cost > ruleCostMax) this.errors.push(forbidden(path, tooCostly(name, cost, ruleCostMax)))
  }

  #oldSelf(rule: ValidationRule, { tree }: Program, path: string, place: RuleContext): void {
    const usesOldSelf = usesIdentifier(tree, 'oldSelf')
    if (usesOldSelf && place.uncorrelatable !== undefined)
      this.errors.push(
        invalid(
          `${path}.rule`,
          rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`,
        ),
      )
    if (!usesOldSelf) this.#optionalOldSelf(rule, path)
  }

  /** A rule that does not compile does not use oldSelf either. */
  #optionalOldSelf({ optionalOldSelf }: ValidationRule, path: string): void {
    if (optionalOldSelf !== undefined)
      this.errors.push(
        invalid(`${path}.optionalOldSelf`, optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      )
  }
}

const resultErrors = {
  bool: 'cel expression must evaluate to a bool',
  string: 'messageExpression must evaluate to a string',
} as const

/** The program, or its error in upstream's wording. A message is a string, and its errors name it. */
function* compiled(
  text: string,
  environment: Environment,
  kind: 'bool' | 'string',
  slice: Slice,
): Sliced<Program | string> {
  const what = kind === 'string' ? 'messageExpression ' : ''
  try {
    const program = yield* compileInSlices(text, environment, slice)
    if (program.type.kind !== kind) return resultErrors[kind]
    const failed = program.constantError
    if (slice.isUsedUp()) yield
    if (failed === undefined) return program
    return `${what}${kind === 'bool' ? 'program ' : ''}instantiation failed: ${failed.message}`
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return `${what}compilation failed: ${error.message}`
  }
}

/** The rule as upstream's errors show it: its internal type with Go's field names. */
const shown = ({ rule, message, messageExpression, reason, fieldPath, optionalOldSelf }: ValidationRule) => ({
  Rule: rule,
  Message: message ?? '',
  MessageExpression: messageExpression ?? '',
  Reason: reason ?? null,
  FieldPath: fieldPath ?? '',
  OptionalOldSelf: optionalOldSelf ?? null,
})

function tooCostly(name: string, cost: number, max: number): string {
  const factor = cost / max
  const by = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`
  return `${name} exceeds budget by factor of ${by} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}
