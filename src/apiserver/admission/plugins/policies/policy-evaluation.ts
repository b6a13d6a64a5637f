// PolicyEvaluation: one policy for one request, one binding and one object of parameters.
import type { MatchCondition } from '../../../../api/admissionregistration/v1/match-resources.ts'
import type { ParamKind } from '../../../../api/admissionregistration/v1/policy-params.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import type { Activation } from '../../../../cel/run/evaluation-frame.ts'
import { fromJson } from '../../../../cel/values/json-value-conversion.ts'
import type { ExpressionInput } from '../../expressions/activation.ts'
import { evaluateMatchConditions, type MatchResult } from '../../expressions/match-conditions.ts'
import {
  Budget,
  evaluateExpression,
  policyBudget,
  type EvaluationContext,
  type Outcome,
} from '../../expressions/evaluate-expression.ts'
import type { CompiledExpression, PolicyScope } from './compiled-policy.ts'
import { Variables } from './variables.ts'

export class PolicyEvaluation {
  readonly #seen: ExpressionInput
  readonly #context: EvaluationContext
  readonly #budget = new Budget(policyBudget)
  readonly #activation: Activation
  readonly #withVariables: Activation
  readonly #scope: PolicyScope

  constructor(
    scope: PolicyScope,
    paramKind: ParamKind | undefined,
    params: ApiObject | null,
    input: ExpressionInput,
    context: EvaluationContext,
  ) {
    this.#scope = scope
    this.#seen = input
    this.#context = context
    const typed = params === null ? null : fromJson({ ...paramKind, ...params })
    this.#activation = { ...input.activation, params: typed }
    const variables = new Variables(scope.variables, this.#activation, this.#budget)
    this.#withVariables = { ...this.#activation, variables }
  }

  match(conditions: readonly MatchCondition[]): Promise<MatchResult> {
    return evaluateMatchConditions(conditions, this.#scope.conditions, this.#activation, this.#seen, this.#context)
  }

  /** Throws an OutOfBudgetError. */
  evaluate({ program, expression }: CompiledExpression): Promise<Outcome> {
    return evaluateExpression(program, expression, this.#withVariables, this.#seen, this.#budget, this.#context)
  }
}
