// Frame: the state of one evaluation: its local variables and its cost so far.
import type { Slice } from '../../base/work/work-slice.ts'
import type { CallSteps } from '../environment/function.ts'
import { Interrupt } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'
import { isLarge } from '../values/large-value.ts'

/** The values of variables. */
export type Activation = Readonly<Record<string, Value | undefined>>

export class CostLimitError extends Interrupt {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
    this.name = 'CostLimitError'
  }
}

/** An evaluation that was meant to be short is not: it is repeated in slices. */
export class LongEvaluationError extends Interrupt {
  constructor() {
    super('the evaluation takes long')
    this.name = 'LongEvaluationError'
  }
}

/** How an evaluation may use the event loop: as long as it takes; only if it is short; or in slices. */
export type Pace = 'uninterrupted' | 'short' | Slice

/** Bounds the time of loops whose elements all fail. */
const ignoredErrorCost = 20

/** Usual expressions have a tenth of this cost. */
const shortCostMax = 2_000

/** Loops check their slice after this much cost. */
const checkedCost = 50

export class Frame {
  readonly activation: Activation
  /** undefined: not evaluated yet. */
  readonly locals: (Value | undefined)[]
  readonly costMax: number
  readonly #slice: Slice | undefined
  readonly #isShort: boolean
  readonly #chargedMax: number
  #checkAt = 0
  cost = 0

  constructor(activation: Activation, locals: number, costMax: number, pace: Pace) {
    this.activation = activation
    this.locals = Array.from({ length: locals }, () => undefined)
    this.costMax = costMax
    this.#slice = typeof pace === 'string' ? undefined : pace
    this.#isShort = pace === 'short'
    this.#chargedMax = this.#isShort ? Math.min(costMax, shortCostMax) : costMax
  }

  /** An error that an operator ignores. Upstream's errors are values; ours are exceptions, which take longer. */
  ignore(): void {
    this.charge(ignoredErrorCost)
  }

  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.#chargedMax) throw this.cost > this.costMax ? new CostLimitError() : new LongEvaluationError()
  }

  /** Fails if a call with this cost is beyond the limit, before it is begun. */
  afford(cost: number): void {
    if (this.cost + cost > this.costMax) {
      this.cost += cost
      throw new CostLimitError()
    }
  }

  /** The result of a call that is not interrupted. */
  finish(steps: CallSteps): Value {
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
      if (this.#isShort) throw new LongEvaluationError()
    }
  }

  /** A call with this argument begins, whose time depends on the size of the argument, maybe more than its cost does. */
  use(argument: Value): void {
    if (this.#isShort && isLarge(argument)) throw new LongEvaluationError()
  }

  /** Whether an evaluation in slices pauses after a call. */
  isSliceUsedUp(): boolean {
    return this.#slice?.isUsedUp() ?? false
  }

  /** Whether an evaluation in slices pauses in a loop. */
  isPauseDue(): boolean {
    if (this.cost < this.#checkAt) return false
    this.#checkAt = this.cost + checkedCost
    return this.isSliceUsedUp()
  }
}
