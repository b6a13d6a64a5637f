// Program: an expression that was checked in an environment and can be evaluated any number of times.
import { runToEnd, type Slice, type Sliced } from '../base/work/work-slice.ts'
import { checkInSlices, type Checked } from './check/checker.ts'
import type { Environment } from './environment/environment.ts'
import { Evaluator, type Evaluation, type Outcome } from './run/evaluator.ts'
import type { Activation } from './run/evaluation-frame.ts'
import type { Expr } from './syntax/ast.ts'
import { parseInSlices } from './syntax/parser.ts'
import { ExpressionError } from './syntax/source.ts'
import type { CelType } from './types/cel-type.ts'
import { EvalError } from './values/eval-error.ts'

export type { Evaluation, Outcome }

export class Program {
  readonly type: CelType
  readonly tree: Expr
  readonly checked: Checked
  readonly #environment: Environment
  /** Compiled when it is first needed; the error of a constant that cannot be computed. */
  #evaluator: Evaluator | EvalError | undefined

  constructor(tree: Expr, checked: Checked, environment: Environment) {
    this.tree = tree
    this.checked = checked
    this.type = checked.type
    this.#environment = environment
  }

  /** The error of a constant part, such as `int('x')`: the expression can never be evaluated. */
  get constantError(): EvalError | undefined {
    const evaluator = this.#compiled()
    return evaluator instanceof EvalError ? evaluator : undefined
  }

  /** Throws an EvalError, or a CostLimitError. */
  evaluate(activation: Activation, costMax: number): Evaluation {
    const outcome = this.outcome(activation, costMax)
    if (outcome.error !== undefined) throw outcome.error
    return outcome
  }

  /** Like `evaluate`, with the error as a value. */
  outcome(activation: Activation, costMax: number): Outcome {
    const evaluator = this.#compiled()
    return evaluator instanceof EvalError ? { error: evaluator, cost: 0 } : evaluator.outcome(activation, costMax)
  }

  /** The result of a short evaluation; undefined if it is not short. */
  shortOutcome(activation: Activation, costMax: number): Outcome | undefined {
    const evaluator = this.#compiled()
    return evaluator instanceof EvalError ? { error: evaluator, cost: 0 } : evaluator.shortOutcome(activation, costMax)
  }

  /** A short evaluation does not pay for slices: only one that turns out to be long is evaluated again with them. */
  *outcomeInSlices(activation: Activation, costMax: number, slice: Slice): Sliced<Outcome> {
    const evaluator = this.#compiled()
    if (evaluator instanceof EvalError) return { error: evaluator, cost: 0 }
    const short = evaluator.shortOutcome(activation, costMax)
    return short ?? (yield* evaluator.outcomeInSlices(activation, costMax, slice))
  }

  #compiled(): Evaluator | EvalError {
    if (this.#evaluator !== undefined) return this.#evaluator
    try {
      this.#evaluator = new Evaluator(this.tree, this.#environment, this.checked)
    } catch (error) {
      if (!(error instanceof EvalError)) throw error
      this.#evaluator = error
    }
    return this.#evaluator
  }
}

/** Throws an ExpressionError. */
export const compile = (text: string, environment: Environment): Program =>
  runToEnd((slice) => compileInSlices(text, environment, slice))

/** Like `compile`, with pauses where it takes long. */
export function* compileInSlices(text: string, environment: Environment, slice: Slice): Sliced<Program> {
  const tree = yield* parseInSlices(text, environment.dialect, slice)
  if (slice.isUsedUp()) yield
  const checked = yield* checkInSlices(tree, environment, slice)
  if (checked.issues.length > 0) throw new ExpressionError(text, checked.issues)
  if (slice.isUsedUp()) yield
  return new Program(tree, checked, environment)
}
