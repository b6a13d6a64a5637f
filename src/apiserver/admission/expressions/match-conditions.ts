// matchConditions: expressions that must all be true for a webhook or a policy to apply to a request.
import type { MatchCondition } from '../../../api/admissionregistration/v1/match-resources.ts'
import { compileExpression } from '../../../api/expressions/compile-expression.ts'
import type { Environment } from '../../../cel/environment/environment.ts'
import type { Program } from '../../../cel/program.ts'
import { boolType } from '../../../cel/types/cel-type.ts'
import type { Activation } from '../../../cel/run/evaluation-frame.ts'
import type { ExpressionInput } from './activation.ts'
import {
  Budget,
  conditionsBudget,
  evaluateExpression,
  OutOfBudgetError,
  type EvaluationContext,
} from './evaluate-expression.ts'

export type MatchResult =
  | { readonly kind: 'matches' }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'failed'; readonly message: string }

interface CompiledCondition {
  readonly expression: string
  /** Undefined if the expression does not compile; an older server may have stored it. */
  readonly program: Program | undefined
  readonly wrong: string
}

/** Compiled once per version of the object that contains the conditions. */
const known = new WeakMap<readonly MatchCondition[], readonly CompiledCondition[]>()

function compiledConditions(conditions: readonly MatchCondition[], environment: Environment) {
  const found = known.get(conditions)
  if (found !== undefined) return found
  const made = conditions.map(({ expression }): CompiledCondition => {
    const text = expression.trim()
    const result = compileExpression(text, environment, boolType)
    return result.kind === 'program'
      ? { expression: text, program: result.program, wrong: '' }
      : { expression: text, program: undefined, wrong: result.message }
  })
  known.set(conditions, made)
  return made
}

/** A false condition skips the request. Errors matter only if no condition is false; the caller applies its failure policy. */
export async function evaluateMatchConditions(
  conditions: readonly MatchCondition[],
  environment: Environment,
  activation: Activation,
  seen: ExpressionInput,
  context: EvaluationContext,
): Promise<MatchResult> {
  const budget = new Budget(conditionsBudget)
  const failures: string[] = []
  try {
    for (const { expression, program, wrong } of compiledConditions(conditions, environment)) {
      if (program === undefined) {
        failures.push(wrong)
        continue
      }
      const outcome = await evaluateExpression(program, expression, activation, seen, budget, context)
      if (outcome.kind === 'failed') failures.push(outcome.message)
      else if (outcome.value === false) return { kind: 'skipped' }
    }
  } catch (error) {
    if (!(error instanceof OutOfBudgetError)) throw error
    failures.push(error.message)
  }
  const [first] = failures
  if (first === undefined) return { kind: 'matches' }
  return { kind: 'failed', message: failures.length === 1 ? first : `[${failures.join(', ')}]` }
}
