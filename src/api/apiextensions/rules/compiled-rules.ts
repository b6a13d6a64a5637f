// The rules of one schema: their evaluation for a value, and the errors of those that fail.
import { usesIdentifier } from '../../../cel/syntax/uses-identifier.ts'
import { compile, type Program } from '../../../cel/program.ts'
import { CostLimitError, type Activation } from '../../../cel/run/evaluation-frame.ts'
import { ExpressionError } from '../../../cel/syntax/source.ts'
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
  readonly #type: CelType
  readonly #rules: readonly CompiledRule[]

  constructor(schema: JsonSchemaProps, rules: readonly ValidationRule[], type: CelType) {
    this.#schema = schema
    this.#type = type
    this.#rules = rules.flatMap((rule) => (rule.rule.trim() === '' ? [] : [compiled(rule, type, schema)]))
  }

  /** The failures of the rules in their order. */
  evaluate(value: JsonValue, old: JsonValue | undefined, path: string, budget: CostBudget): readonly RuleFailure[] {
    const at = path === '' ? '<nil>' : path
    const failures: RuleFailure[] = []
    if (budget.isEmpty) {
      budget.end()
      return [{ error: noBudget(at, undefined), isTransition: true }]
    }
    const self = fromJson(value, this.#type)
    const oldSelf = old === undefined || old === null ? undefined : fromJson(old, this.#type)
    const known: Activation = { self, oldSelf }
    for (const rule of this.#rules) {
      if (rule.isTransition && oldSelf === undefined && !rule.isOldOptional) continue
      const activation = rule.isOldOptional ? { self, oldSelf: optional(oldSelf) } : known
      const error = this.#failure(rule, activation, value, path, budget)
      if (error !== undefined) failures.push({ error: error.error, isTransition: error.isFinal || rule.isTransition })
      if (budget.isSpent) break
    }
    return failures
  }

  /** `isFinal`: an error of the evaluation, which is never ignored. */
  #failure(
    compiledRule: CompiledRule,
    activation: Activation,
    value: JsonValue,
    path: string,
    budget: CostBudget,
  ): { readonly error: FieldError; readonly isFinal: boolean } | undefined {
    const { rule, program, message, fieldPath } = compiledRule
    const type = this.#schema.type ?? ''
    const at = path === '' ? '<nil>' : path
    const final = (error: FieldError) => ({ error, isFinal: true })
    if (program instanceof ExpressionError)
      return final(invalid(at, type, `rule compile error: compilation failed: ${program.message}`))
    const result = program.outcome(activation, expressionCostMax)
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
    const text = evaluatedMessage(message.outcome(activation, expressionCostMax), rule, budget)
    if (text.kind === 'budget') return { error: invalid(errorPath, type, text.detail), isFinal: false }
    return { error: failedRuleError(errorPath, value, text.message, rule), isFinal: false }
  }
}

function compiled(rule: ValidationRule, type: CelType, schema: JsonSchemaProps): CompiledRule {
  const isOldOptional = rule.optionalOldSelf === true
  const environment = apiEnvironment.with({ self: type, oldSelf: isOldOptional ? optionalOf(type) : type })
  const attempt = (text: string): Program | ExpressionError => {
    try {
      return compile(text, environment)
    } catch (error) {
      if (error instanceof ExpressionError) return error
      throw error
    }
  }
  const program = attempt(rule.rule)
  const hasMessage = (rule.messageExpression ?? '').trim() !== ''
  return {
    rule,
    program,
    message: hasMessage ? attempt(rule.messageExpression ?? '') : undefined,
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
