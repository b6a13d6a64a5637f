// Logical operators that ignore errors: an operand that determines the result hides an error of the other one.
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'
import type { Frame, Step } from './evaluation-frame.ts'

/** The value, or the error in place of it; interrupts are rethrown. */
function outcome(step: Step, frame: Frame): Value | EvalError {
  try {
    return step(frame)
  } catch (error) {
    if (!(error instanceof EvalError)) throw error
    frame.ignore()
    return error
  }
}

const decided =
  (decisive: boolean) =>
  (left: Step, right: Step): Step =>
  (frame) => {
    const first = outcome(left, frame)
    if (first === decisive) return decisive
    const second = outcome(right, frame)
    if (second === decisive) return decisive
    if (typeof first === 'boolean' && typeof second === 'boolean') return !decisive
    if (first instanceof EvalError) throw first
    if (second instanceof EvalError) throw second
    throw noSuchOverload()
  }

export const and = decided(false)
export const or = decided(true)

export const not =
  (step: Step): Step =>
  (frame) => {
    const value = step(frame)
    frame.charge(1)
    if (typeof value !== 'boolean') throw noSuchOverload()
    return !value
  }

export const conditional =
  (condition: Step, then: Step, otherwise: Step): Step =>
  (frame) => {
    const value = condition(frame)
    if (typeof value !== 'boolean') throw noSuchOverload()
    return value ? then(frame) : otherwise(frame)
  }
