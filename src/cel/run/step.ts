// Step: one node of an expression, ready to be evaluated. A step that contains a loop or a call that may take long has
// pauses: it can also be evaluated as a generator, which yields when the slice of the frame is used up.
import type { Sliced } from '../../base/work/work-slice.ts'
import { EvalError } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'
import type { Frame } from './evaluation-frame.ts'

export interface Step<T = Value> {
  (frame: Frame): T
  /** The same evaluation with pauses; undefined if the step has none. */
  readonly inSlices?: (frame: Frame) => Sliced<T>
}

type Evaluate<T> = (frame: Frame) => T

export const withPauses = <T>(evaluate: Evaluate<T>, inSlices: (frame: Frame) => Sliced<T>): Step<T> =>
  Object.assign(evaluate, { inSlices })

export const hasPauses = ({ inSlices }: Step<unknown>): boolean => inSlices !== undefined

/** Evaluates `prepare`, then the step. */
export function prepared<T>(prepare: (frame: Frame) => void, step: Step<T>): Step<T> {
  const { inSlices } = step
  const evaluate = (frame: Frame): T => {
    prepare(frame)
    return step(frame)
  }
  if (inSlices === undefined) return evaluate
  return withPauses(evaluate, (frame) => {
    prepare(frame)
    return inSlices(frame)
  })
}

/** Evaluates the operand, then `finish` with its value. */
export function withOperand<T, R = Value>(operand: Step<T>, finish: (frame: Frame, value: T) => R): Step<R> {
  const { inSlices } = operand
  const evaluate = (frame: Frame): R => finish(frame, operand(frame))
  if (inSlices === undefined) return evaluate
  return withPauses(evaluate, function* (frame) {
    return finish(frame, yield* inSlices(frame))
  })
}

/** Evaluates the operands in their order, then `finish` with their values. `evaluate` does the same without pauses. */
export function withOperands(
  operands: readonly Step[],
  finish: (frame: Frame, values: readonly Value[]) => Value,
  evaluate: Evaluate<Value> = (frame) =>
    finish(
      frame,
      operands.map((operand) => operand(frame)),
    ),
): Step {
  if (!operands.some(hasPauses)) return evaluate
  return withPauses(evaluate, function* (frame) {
    const values: Value[] = []
    for (const operand of operands)
      values.push(operand.inSlices === undefined ? operand(frame) : yield* operand.inSlices(frame))
    return finish(frame, values)
  })
}

/** Evaluates the operand, then the branch that `choose` returns for its value, or another step without pauses. */
export function choice<T>(operand: Step<T>, branches: readonly Step[], choose: (frame: Frame, value: T) => Step): Step {
  const evaluate = (frame: Frame): Value => choose(frame, operand(frame))(frame)
  if (!hasPauses(operand) && !branches.some(hasPauses)) return evaluate
  return withPauses(evaluate, function* (frame) {
    const branch = choose(frame, operand.inSlices === undefined ? operand(frame) : yield* operand.inSlices(frame))
    return branch.inSlices === undefined ? branch(frame) : yield* branch.inSlices(frame)
  })
}

/** The value of a step, or the error in place of it, for operators that ignore errors. Interrupts are thrown. */
export function caught(step: Step): Step<Value | EvalError> {
  const { inSlices } = step
  const evaluate = (frame: Frame): Value | EvalError => {
    try {
      return step(frame)
    } catch (error) {
      return ignored(error, frame)
    }
  }
  if (inSlices === undefined) return evaluate
  return withPauses(evaluate, function* (frame) {
    try {
      return yield* inSlices(frame)
    } catch (error) {
      return ignored(error, frame)
    }
  })
}

function ignored(error: unknown, frame: Frame): EvalError {
  if (!(error instanceof EvalError)) throw error
  frame.ignore()
  return error
}
