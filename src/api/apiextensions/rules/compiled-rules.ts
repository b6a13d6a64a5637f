// The rules of one schema: their evaluation for a value, and the errors of those that fail.
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import { usesIdentifier } from '../../../cel/syntax/uses-identifier.ts'
import { compileInSlices, type Outcome, type Program } from '../../../cel/program.ts'
import { CostLimitError, type Activation } from '../../../cel/run/evaluation-frame.ts'
import { ExpressionError } from '../../../cel/syntax/source.ts'
import { structuralType } from '../../../cel/types/structural-type.ts'
import { optionalOf, type CelType } from '../../../cel/types/cel-type.ts'
import type { EvalError } from '../../../cel/values/eval-error.ts'
import { fromJson } from '../../../cel/values/json-value-conversion.ts'
import { none, Optional, type Value } from '../../../cel/values/value.ts'
import type { JsonValue } from '../../../schema/json/json-value.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { apiEnvironment } from '../../expressions/api-environment.ts'
import type { JsonSchemaProps, ValidationRule } from '../schema/json-schema-props.ts'
import { resolveFieldPath } from '../schema/schema-paths.ts'
import { expressionCostMax, type CostBudget } from './cost-budget.ts'
import type { RuleMeasures } from './rule-measures.ts'
import { evaluatedMessage } from './rule-message.ts'
import { failedRuleError, ruleName } from './rule-error.ts'

export interface RuleFailure {
  readonly error: FieldError
  /** The rule refers to the old value, so its errors are never ignored. */
  readonly isTransition: boolean
}

interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: Program | ExpressionError
  readonly message: Program | ExpressionError | undefined
  readonly isTransition: boolean
  readonly isOldOptional: boolean
  /** Appended to the path of the value. */
  readonly fieldPath: string
}

export class CompiledRules {
  readonly #schema: JsonSchemaProps
  readonly #isRoot: boolean
  #type: CelType | undefined
  readonly #rules: readonly ValidationRule[]
  /** Each is compiled when it is first evaluated. */
  readonly #compiled: CompiledRule[] = []

  constructor(schema: JsonSchemaProps, rules: readonly ValidationRule[], isRoot: boolean) {
    this.#schema = schema
    this.#isRoot = isRoot
    this.#rules = rules.filter(({ rule }) => rule.trim() !== '')
  }

  /** The failures of the rules in their order. */
  *evaluate(
    value: JsonValue,
    old: JsonValue | undefined,
    path: string,
    budget: CostBudget,
    slice: Slice,
    measures?: RuleMeasures,
  ): Sliced<readonly RuleFailure[]> {
    const at = path === '' ? '<nil>' : path
    const failures: RuleFailure[] = []
    const type = (this.#type ??= structuralType(this.#schema, 'selfType', this.#isRoot)?.type)
    if (type === undefined) return failures
    if (budget.isEmpty) {
      budget.end()
      return [{ error: noBudget(at, undefined), isTransition: true }]
    }
    const startMs = measures?.now() ?? 0
    let compiledMs = 0
    const self = fromJson(value, type)
    const oldSelf = old === undefined || old === null ? undefined : fromJson(old, type)
    const known: Activation = { self, oldSelf }
    for (const [index, each] of this.#rules.entries()) {
      const beforeMs = measures?.now() ?? 0
      const isNew = this.#compiled[index] === undefined
      const rule = (this.#compiled[index] ??= yield* compiled(each, type, this.#schema, slice))
      if (isNew && measures !== undefined) {
        const ms = measures.now() - beforeMs
        measures.compiled(ms)
        compiledMs += ms
      }
      if (slice.isUsedUp()) yield
      if (rule.isTransition && oldSelf === undefined && !rule.isOldOptional) continue
      const activation = rule.isOldOptional ? { self, oldSelf: optional(oldSelf) } : known
      const error = yield* this.#failure(rule, activation, value, path, budget, slice)
      if (error !== undefined) failures.push({ error: error.error, isTransition: error.isFinal || rule.isTransition })
      if (budget.isSpent) break
    }
    measures?.evaluated(measures.now() - startMs - compiledMs)
    return failures
  }

  /** `isFinal`: an error of the evaluation, which is never ignored. */
  *#failure(
    compiledRule: CompiledRule,
    activation: Activation,
    value: JsonValue,
    path: string,
    budget: CostBudget,
    slice: Slice,
  ): Sliced<{ readonly error: FieldError; readonly isFinal: boolean } | undefined> {
    const { rule, program, message, fieldPath } = compiledRule
    const type = this.#schema.type ?? ''
    const at = path === '' ? '<nil>' : path
    const final = (error: FieldError) => ({ error, isFinal: true })
    if (program instanceof ExpressionError)
      return final(invalid(at, type, `rule compile error: compilation failed: ${program.message}`))
    const result = yield* outcomeOf(program, activation, slice)
    if (!budget.spend(result.cost)) return final(noBudget(at, type))
    if (result.error instanceof CostLimitError) {
      budget.end()
      return final(
        invalid(
          at,
          type,
          `'${result.error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleName(rule)}`,
        ),
      )
    }
    if (result.error !== undefined) return final(invalid(at, type, evaluationDetail(result.error, rule)))
    if (result.value === true) return undefined
    const errorPath = joined(path, fieldPath)
    if (message instanceof ExpressionError || message === undefined)
      return { error: failedRuleError(errorPath, value, undefined, rule), isFinal: false }
    const text = evaluatedMessage(yield* outcomeOf(message, activation, slice), rule, budget)
    if (text.kind === 'budget') return { error: invalid(errorPath, type, text.detail), isFinal: false }
    return { error: failedRuleError(errorPath, value, text.message, rule), isFinal: false }
  }
}

const outcomeOf = (program: Program, activation: Activation, slice: Slice): Sliced<Outcome> =>
  program.outcomeInSlices(activation, expressionCostMax, slice)

function* compiled(rule: ValidationRule, type: CelType, schema: JsonSchemaProps, slice: Slice): Sliced<CompiledRule> {
  const isOldOptional = rule.optionalOldSelf === true
  const environment = apiEnvironment.with({ self: type, oldSelf: isOldOptional ? optionalOf(type) : type })
  const attempt = function* (text: string): Sliced<Program | ExpressionError> {
    try {
      return yield* compileInSlices(text, environment, slice)
    } catch (error) {
      if (error instanceof ExpressionError) return error
      throw error
    }
  }
  const program = yield* attempt(rule.rule)
  const hasMessage = (rule.messageExpression ?? '').trim() !== ''
  return {
    rule,
    program,
    message: hasMessage ? yield* attempt(rule.messageExpression ?? '') : undefined,
    isTransition: !(program instanceof ExpressionError) && usesIdentifier(program.tree, 'oldSelf'),
    isOldOptional,
    fieldPath: fieldPathOf(rule, schema),
  }
}

/** `.a['b']` as part of a path: `a[b]`. */
function fieldPathOf({ fieldPath = '' }: ValidationRule, schema: JsonSchemaProps): string {
  const found = fieldPath === '' ? undefined : resolveFieldPath(schema, fieldPath)
  return found?.kind === 'found' ? found.fieldPath : ''
}

function joined(path: string, below: string): string {
  if (below === '') return path === '' ? '<nil>' : path
  return path === '' ? below : `${path}.${below}`
}

const optional = (value: Value | undefined): Optional => (value === undefined ? none : new Optional(value))

function evaluationDetail({ message }: EvalError, rule: ValidationRule): string {
  return message.startsWith('no such overload')
    ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleName(rule)}`
    : `${message} evaluating rule: ${ruleName(rule)}`
}

const noBudget = (path: string, type: string | undefined): FieldError =>
  type === undefined
    ? {
        reason: 'FieldValueInvalid',
        field: path,
        message: `Invalid value: ${outOfBudget}`,
      }
    : invalid(path, type, outOfBudget)

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'
