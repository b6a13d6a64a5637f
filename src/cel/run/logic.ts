// Logical operators that ignore errors: an operand that determines the result hides an error of the other one.
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import type { Value } from '../values/value.ts'
import { caught, choice, hasPauses, withOperand, withPauses, type Step } from './step.ts'

const decided =
  (decisive: boolean) =>
  (left: Step, right: Step): Step => {
    const first = caught(left)
    const second = caught(right)
    const combined = (a: Value | EvalError, b: Value | EvalError): Value => {
      if (b === decisive) return decisive
      if (typeof a === 'boolean' && typeof b === 'boolean') return !decisive
      if (a instanceof EvalError) throw a
      if (b instanceof EvalError) throw b
      throw noSuchOverload()
    }
    const evaluate: Step = (frame) => {
      const value = first(frame)
      return value === decisive ? decisive : combined(value, second(frame))
    }
    if (!hasPauses(first) && !hasPauses(second)) return evaluate
    return withPauses(evaluate, function* (frame) {
      const value = first.inSlices === undefined ? first(frame) : yield* first.inSlices(frame)
      if (value === decisive) return decisive
      return combined(value, second.inSlices === undefined ? second(frame) : yield* second.inSlices(frame))
    })
  }

export const and = decided(false)
export const or = decided(true)

export const not = (step: Step): Step =>
  withOperand(step, (frame, value) => {
    frame.charge(1)
    if (typeof value !== 'boolean') throw noSuchOverload()
    return !value
  })

export const conditional = (condition: Step, then: Step, otherwise: Step): Step =>
  choice(condition, [then, otherwise], (_, value) => {
    if (typeof value !== 'boolean') throw noSuchOverload()
    return value ? then : otherwise
  })
