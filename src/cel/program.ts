// Program: an expression that was checked in an environment and can be evaluated any number of times.
import { restarted } from '../base/work/restarted.ts'
import { runToEnd, type Slice, type Sliced } from '../base/work/work-slice.ts'
import { checkInSlices, type Checked } from './check/checker.ts'
import type { Environment } from './environment/environment.ts'
import { Compiler } from './run/compiler.ts'
import { CostLimitError, Frame, LongEvaluationError, type Activation, type Pace } from './run/evaluation-frame.ts'
import { Progress } from './run/progress.ts'
import { Scope } from './run/scope.ts'
import type { Expr } from './syntax/ast.ts'
import { parseInSlices } from './syntax/parser.ts'
import { ExpressionError } from './syntax/source.ts'
import type { CelType } from './types/cel-type.ts'
import { EvalError } from './values/eval-error.ts'
import type { Value } from './values/value.ts'

export interface Evaluation {
  readonly value: Value
  readonly cost: number
}

/** The value or the error of an evaluation; both have a cost. */
export type Outcome =
  | (Evaluation & { readonly error?: undefined })
  | { readonly error: EvalError | CostLimitError; readonly cost: number; readonly value?: undefined }

type Run = (activation: Activation, costMax: number, pace?: Pace) => Outcome

export class Program {
  readonly type: CelType
  readonly tree: Expr
  readonly checked: Checked
  readonly #environment: Environment
  /** Compiled when it is first needed; the error of a constant that cannot be computed. */
  #run: Run | EvalError | undefined

  constructor(tree: Expr, checked: Checked, environment: Environment) {
    this.tree = tree
    this.checked = checked
    this.type = checked.type
    this.#environment = environment
  }

  /** The error of a constant part, such as `int('x')`: the expression can never be evaluated. */
  get constantError(): EvalError | undefined {
    const run = this.#compiled()
    return run instanceof EvalError ? run : undefined
  }

  /** Throws an EvalError, or a CostLimitError. */
  evaluate(activation: Activation, costMax: number): Evaluation {
    const outcome = this.outcome(activation, costMax)
    if (outcome.error !== undefined) throw outcome.error
    return outcome
  }

  /** Like `evaluate`, with the error as a value. */
  outcome(activation: Activation, costMax: number): Outcome {
    const run = this.#run ?? this.#compiled()
    return run instanceof EvalError ? { error: run, cost: 0 } : run(activation, costMax)
  }

  /** The result of a short evaluation; undefined if it is not short. */
  shortOutcome(activation: Activation, costMax: number): Outcome | undefined {
    const run = this.#run ?? this.#compiled()
    return run instanceof EvalError ? { error: run, cost: 0 } : short(run, activation, costMax)
  }

  /** A short evaluation does not pay for slices: only one that turns out to be long is evaluated again with them. */
  *outcomeInSlices(activation: Activation, costMax: number, slice: Slice): Sliced<Outcome> {
    const run = this.#run ?? this.#compiled()
    if (run instanceof EvalError) return { error: run, cost: 0 }
    return short(run, activation, costMax) ?? (yield* sliced(run, activation, costMax, slice))
  }

  #compiled(): Run | EvalError {
    if (this.#run !== undefined) return this.#run
    try {
      this.#run = evaluatorOf(this.tree, this.#environment, this.checked)
    } catch (error) {
      if (!(error instanceof EvalError)) throw error
      this.#run = error
    }
    return this.#run
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

/** The closures of a syntax tree, which need not be checked. Throws the EvalError of a constant part. */
export function evaluatorOf(tree: Expr, environment: Environment, checked: Checked | undefined): Run {
  const scope = new Scope()
  const step = new Compiler(environment, checked).compile(tree, scope)
  return (activation, costMax, pace = 'uninterrupted') => {
    const frame = new Frame(activation, scope.slotCount, costMax, pace)
    try {
      return { value: step(frame), cost: frame.cost }
    } catch (error) {
      if (error instanceof EvalError || error instanceof CostLimitError) return { error, cost: frame.cost }
      throw error
    }
  }
}

function short(run: Run, activation: Activation, costMax: number): Outcome | undefined {
  try {
    return run(activation, costMax, 'short')
  } catch (error) {
    if (error instanceof LongEvaluationError) return undefined
    throw error
  }
}

/** Starts the evaluation again after each slice, with the progress that it has made. */
export function sliced(run: Run, activation: Activation, costMax: number, slice: Slice): Sliced<Outcome> {
  const progress = new Progress(slice)
  return restarted(() => {
    progress.restart()
    return run(activation, costMax, progress)
  })
}
