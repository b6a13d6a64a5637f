// Frame: the state of one evaluation: its local variables and its cost so far.
import { Interrupt } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'

/** The values of variables. */
export type Activation = Readonly<Record<string, Value | undefined>>

export class CostLimitError extends Interrupt {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CostLimitError'
  }
}

/** Bounds the time of loops whose elements all fail. */
const ignoredErrorCost = 20

export class Frame {
  readonly activation: Activation
  /** undefined: not evaluated yet. */
  readonly locals: (Value | undefined)[]
  readonly costMax: number
  cost = 0

  constructor(activation: Activation, locals: number, costMax: number) {
    this.activation = activation
    this.locals = Array.from({ length: locals }, () => undefined)
    this.costMax = costMax
  }

  /** An error that an operator ignores. Upstream's errors are values; ours are exceptions, which take longer. */
  ignore(): void {
    this.charge(ignoredErrorCost)
  }

  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.costMax) throw new CostLimitError()
  }
}

/** One node of an expression, ready to be evaluated. */
export type Step = (frame: Frame) => Value
