// Variables of a policy: evaluated on first use and cached for the other expressions.
import type { Outcome } from '../../../../cel/program.ts'
import type { Activation, CostLimitError } from '../../../../cel/run/evaluation-frame.ts'
import { EvalError } from '../../../../cel/values/eval-error.ts'
import { MapValue, type Value } from '../../../../cel/values/value.ts'
import { expressionCostMax, PendingVariableError, type Budget } from '../../expressions/evaluate-expression.ts'
import type { CompiledVariable } from './compiled-policy.ts'

type VariableError = EvalError | CostLimitError

export class Variables extends MapValue {
  readonly #variables: ReadonlyMap<string, CompiledVariable>
  readonly #activation: Activation
  readonly #budget: Budget
  readonly #known = new Map<string, Value | VariableError>()

  constructor(variables: readonly CompiledVariable[], activation: Activation, budget: Budget) {
    super()
    this.#variables = new Map(variables.map((variable) => [variable.name, variable]))
    this.#activation = { ...activation, variables: this }
    this.#budget = budget
  }

  get size(): number {
    return this.#variables.size
  }

  keys(): Iterable<Value> {
    return this.#variables.keys()
  }

  get(name: Value): Value | undefined {
    if (typeof name !== 'string') return undefined
    const known = this.#known.get(name) ?? this.#evaluated(name)
    if (known instanceof Error) throw known
    return known
  }

  /** A variable whose evaluation takes long is evaluated in slices, and then the expression that uses it again. */
  #evaluated(name: string): Value | VariableError | undefined {
    const variable = this.#variables.get(name)
    if (variable === undefined) return undefined
    const outcome = variable.program.shortOutcome(this.#activation, expressionCostMax)
    if (outcome === undefined)
      throw new PendingVariableError(variable.program, this.#activation, (late) => this.#resolve(name, late))
    return this.#resolve(name, outcome)
  }

  #resolve(name: string, { value, cost, error }: Outcome): Value | VariableError {
    if (error === undefined) this.#budget.spend(cost)
    const result =
      error instanceof EvalError
        ? new EvalError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`)
        : (error ?? value)
    this.#known.set(name, result)
    return result
  }
}
