// Progress: what an interrupted evaluation has completed. Evaluation is recursive and synchronous, so it cannot be suspended
// in place. It is interrupted and started again, and takes what it has completed from here. This is exact because an
// evaluation is deterministic: a call or a loop is evaluated at most once in each iteration of the loop around it, and the
// cost after it is always the same.
import { SliceEnd } from '../../base/work/restarted.ts'
import type { Slice } from '../../base/work/work-slice.ts'
import type { CallSteps } from '../environment/function.ts'
import { EvalError } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'

/** The state of an evaluation: its cost so far, and its local variables. */
export interface EvaluationState {
  cost: number
  readonly locals: (Value | undefined)[]
}

type Locals = readonly (Value | undefined)[]

/** The result of a call or a loop, and the state of the evaluation after it. */
interface Completed {
  readonly kind: 'completed'
  readonly result: Value | EvalError
  readonly cost: number
  /** It may have evaluated variables that are evaluated when they are first read. */
  readonly locals: Locals
}

/** A call that is executed in steps. */
interface Running {
  readonly kind: 'running'
  readonly steps: CallSteps
}

/** By what identifies a call or a loop. */
type Entries = Map<object, Completed | LoopProgress | Running>

/** A loop, and the beginning of its current iteration. */
export class LoopProgress {
  readonly kind = 'loop'
  readonly range: unknown
  readonly accumulator: unknown
  index = -1
  cost = 0
  locals: Locals = []
  /** What the iteration has completed. */
  completed: Entries = new Map()

  constructor(range: unknown, accumulator: unknown) {
    this.range = range
    this.accumulator = accumulator
  }
}

/** The slice is checked after this much cost. */
const checkedCost = 50

export class Progress {
  readonly #slice: Slice
  readonly #whole: Entries = new Map()
  /** The entries of the current iteration, or of the whole evaluation outside loops. */
  #current = this.#whole
  #checkAt = 0

  constructor(slice: Slice) {
    this.#slice = slice
  }

  /** The evaluation starts again. */
  restart(): void {
    this.#current = this.#whole
    this.#checkAt = 0
  }

  /** Evaluates a step unless it is completed. `step` identifies it. */
  once<S extends EvaluationState>(step: object, state: S, evaluate: (state: S) => Value): Value {
    const entries = this.#current
    const known = entries.get(step)
    if (known?.kind === 'completed') {
      restore(state, known)
      return valueOf(known.result)
    }
    const result = resultOf(() => evaluate(state))
    this.#current = entries
    entries.set(step, { kind: 'completed', result, cost: state.cost, locals: [...state.locals] })
    if (this.#slice.isUsedUp()) throw new SliceEnd()
    return valueOf(result)
  }

  /** The result of a call, which may be interrupted between its steps. */
  run(step: object, begin: () => CallSteps): Value {
    const entry = this.#current.get(step)
    const running: Running = entry?.kind === 'running' ? entry : { kind: 'running', steps: begin() }
    this.#current.set(step, running)
    for (;;) {
      const { done, value } = running.steps.next()
      if (done === true) return value
      if (this.#slice.isUsedUp()) throw new SliceEnd()
    }
  }

  /** The progress of a loop that was interrupted. The state is set to the beginning of the interrupted iteration. */
  resumed(step: object, state: EvaluationState): LoopProgress | undefined {
    const loop = this.#current.get(step)
    if (loop?.kind !== 'loop') return undefined
    restore(state, loop)
    return loop
  }

  begin(step: object, range: unknown, accumulator: unknown): LoopProgress {
    const loop = new LoopProgress(range, accumulator)
    this.#current.set(step, loop)
    return loop
  }

  /** A loop begins an iteration. The interrupted one is continued without a pause, so that every slice makes progress. */
  iterate(loop: LoopProgress, index: number, state: EvaluationState): void {
    if (loop.index === index) {
      this.#current = loop.completed
      return
    }
    loop.index = index
    loop.cost = state.cost
    loop.locals = [...state.locals]
    loop.completed = this.#current = new Map()
    this.#pause(state)
  }

  #pause({ cost }: EvaluationState): void {
    if (cost < this.#checkAt) return
    this.#checkAt = cost + checkedCost
    if (this.#slice.isUsedUp()) throw new SliceEnd()
  }
}

function restore(state: EvaluationState, { cost, locals }: Pick<Completed, 'cost' | 'locals'>): void {
  state.cost = cost
  for (const [slot, value] of locals.entries()) state.locals[slot] = value
}

function resultOf(evaluate: () => Value): Value | EvalError {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof EvalError) return error
    throw error
  }
}

function valueOf(result: Value | EvalError): Value {
  if (result instanceof EvalError) throw result
  return result
}
