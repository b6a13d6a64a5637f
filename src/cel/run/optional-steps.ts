// Steps of optional values: choices between them, and functions of the value that one may have.
import { noSuchOverload } from '../values/eval-error.ts'
import { none, Optional, type Value } from '../values/value.ts'
import { choice, withOperand, withPauses, type Step } from './step.ts'

export function optionalOf(value: Value): Optional {
  if (!(value instanceof Optional)) throw noSuchOverload()
  return value
}

/** `a.or(b)` and `a.orValue(b)` evaluate b only if a has no value, and cost nothing. */
export function optionalChoice(name: string, [first, second]: readonly Step[]): Step | undefined {
  if ((name !== 'or' && name !== 'orValue') || first === undefined || second === undefined) return undefined
  return choice(first, [second], (_, value) => {
    const optional = optionalOf(value)
    const held = optional.value
    return held === undefined ? second : () => (name === 'or' ? optional : held)
  })
}

/** `a.optMap(x, body)`; `isFlat` is `a.optFlatMap(x, body)`. The body reads the value from the slot. */
export function optionalMap(operand: Step, slot: number, body: Step, isFlat: boolean): Step {
  const mapped = isFlat
    ? body
    : withOperand(body, (frame, value) => {
        frame.charge(1)
        return new Optional(value)
      })
  return choice(measured(operand), [mapped], (frame, { value, cost }) => {
    const optional = optionalOf(value)
    frame.charge(1)
    if (optional.value === undefined) {
      frame.charge(1)
      return () => none
    }
    // Upstream evaluates the operand again for its value.
    frame.charge(cost + 1)
    frame.locals[slot] = optional.value
    return mapped
  })
}

/** The value of a step and its cost. */
function measured(step: Step): Step<{ readonly value: Value; readonly cost: number }> {
  const { inSlices } = step
  const evaluate = (frame: Parameters<Step>[0]) => {
    const before = frame.cost
    return { value: step(frame), cost: frame.cost - before }
  }
  if (inSlices === undefined) return evaluate
  return withPauses(evaluate, function* (frame) {
    const before = frame.cost
    return { value: yield* inSlices(frame), cost: frame.cost - before }
  })
}

/** An optional index costs nothing if there is no such element. */
export const unchargedNone = (step: Step): Step =>
  withOperand(step, (frame, value) => {
    if (value === none) frame.charge(-1)
    return value
  })
