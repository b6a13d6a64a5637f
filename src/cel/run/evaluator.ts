// Evaluator: evaluates a syntax tree, which is compiled to closures once.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { Checked } from '../check/checker.ts'
import type { Environment } from '../environment/environment.ts'
import type { Expr } from '../syntax/ast.ts'
import { EvalError } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'
import { Compiler } from './compiler.ts'
import { CostLimitError, Frame, LongEvaluationError, type Activation, type Pace } from './evaluation-frame.ts'
import { Scope } from './scope.ts'
import type { Step } from './step.ts'

export interface Evaluation {
  readonly value: Value
  readonly cost: number
}

/** The value or the error of an evaluation; both have a cost. */
export type Outcome =
  | (Evaluation & { readonly error?: undefined })
  | { readonly error: EvalError | CostLimitError; readonly cost: number; readonly value?: undefined }

export class Evaluator {
  readonly #step: Step
  readonly #scope = new Scope()

  /** The tree need not be checked. Throws the EvalError of a constant part. */
  constructor(tree: Expr, environment: Environment, checked: Checked | undefined) {
    this.#step = new Compiler(environment, checked).compile(tree, this.#scope)
  }

  /** Takes as long as the evaluation does. */
  outcome(activation: Activation, costMax: number): Outcome {
    return this.#outcome(this.#frame(activation, costMax, 'uninterrupted'))
  }

  /** Undefined if the evaluation is not short. */
  shortOutcome(activation: Activation, costMax: number): Outcome | undefined {
    try {
      return this.#outcome(this.#frame(activation, costMax, 'short'))
    } catch (error) {
      if (error instanceof LongEvaluationError) return undefined
      throw error
    }
  }

  *outcomeInSlices(activation: Activation, costMax: number, slice: Slice): Sliced<Outcome> {
    const { inSlices } = this.#step
    const frame = this.#frame(activation, costMax, slice)
    if (inSlices === undefined) return this.#outcome(frame)
    try {
      return { value: yield* inSlices(frame), cost: frame.cost }
    } catch (error) {
      return failed(error, frame)
    }
  }

  #frame(activation: Activation, costMax: number, pace: Pace): Frame {
    return new Frame(activation, this.#scope.slotCount, costMax, pace)
  }

  #outcome(frame: Frame): Outcome {
    try {
      return { value: this.#step(frame), cost: frame.cost }
    } catch (error) {
      return failed(error, frame)
    }
  }
}

function failed(error: unknown, { cost }: Frame): Outcome {
  if (error instanceof EvalError || error instanceof CostLimitError) return { error, cost }
  throw error
}
