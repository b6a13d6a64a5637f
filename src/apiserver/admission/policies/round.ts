// One round of a policy: over one request, by one binding, with one object of parameters.
import type { MatchCondition } from '../../../api/admissionregistration/v1/matching.ts'
import type { ParamKind } from '../../../api/admissionregistration/v1/policy-parts.ts'
import type { ApiObject } from '../../../api/object.ts'
import type { Activation } from '../../../cel/run/frame.ts'
import { fromJson } from '../../../cel/values/json.ts'
import type { Seen } from '../expressions/activation.ts'
import { matchOf, type Match } from '../expressions/conditions.ts'
import { Budget, evaluate, policyBudget, type Asking, type Outcome } from '../expressions/evaluate.ts'
import type { CompiledExpression, PolicyScope } from './compiled-policy.ts'
import { Variables } from './variables.ts'

export class Round {
  readonly #seen: Seen
  readonly #asking: Asking
  readonly #budget = new Budget(policyBudget)
  readonly #activation: Activation
  readonly #withVariables: Activation
  readonly #scope: PolicyScope

  constructor(
    scope: PolicyScope,
    paramKind: ParamKind | undefined,
    params: ApiObject | null,
    seen: Seen,
    asking: Asking,
  ) {
    this.#scope = scope
    this.#seen = seen
    this.#asking = asking
    const typed = params === null ? null : fromJson({ ...paramKind, ...params })
    this.#activation = { ...seen.activation, params: typed }
    const variables = new Variables(scope.variables, this.#activation, this.#budget)
    this.#withVariables = { ...this.#activation, variables }
  }

  match(conditions: readonly MatchCondition[]): Promise<Match> {
    return matchOf(conditions, this.#scope.conditions, this.#activation, this.#seen, this.#asking)
  }

  /** Throws an OutOfBudgetError. */
  evaluate({ program, expression }: CompiledExpression): Promise<Outcome> {
    return evaluate(program, expression, this.#withVariables, this.#seen, this.#budget, this.#asking)
  }
}
