// Variables of a policy: evaluated on first use and cached for the other expressions.
import type { Activation } from '../../../../cel/run/evaluation-frame.ts'
import { EvalError } from '../../../../cel/values/eval-error.ts'
import { MapValue, type Value } from '../../../../cel/values/value.ts'
import type { Budget } from '../../expressions/evaluate-expression.ts'
import type { CompiledVariable } from './compiled-policy.ts'

const variableCostMax = 1_000_000

export class Variables extends MapValue {
  readonly #variables: ReadonlyMap<string, CompiledVariable>
  readonly #activation: Activation
  readonly #budget: Budget
  readonly #known = new Map<string, Value | EvalError>()

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
    if (known instanceof EvalError) throw known
    return known
  }

  #evaluated(name: string): Value | EvalError | undefined {
    const variable = this.#variables.get(name)
    if (variable === undefined) return undefined
    try {
      const { value, cost } = variable.program.evaluate(this.#activation, variableCostMax)
      this.#budget.spend(cost)
      this.#known.set(name, value)
      return value
    } catch (error) {
      if (!(error instanceof EvalError)) throw error
      const failure = new EvalError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`)
      this.#known.set(name, failure)
      return failure
    }
  }
}
