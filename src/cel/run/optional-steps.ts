// Steps of optional values: choices between them, and functions of the value that one may have.
import { noSuchOverload } from '../values/eval-error.ts'
import { none, Optional } from '../values/value.ts'
import type { Step } from './evaluation-frame.ts'

/** `a.or(b)` and `a.orValue(b)` evaluate b only if a has no value, and cost nothing. */
export function optionalChoice(name: string, [first, second]: readonly Step[]): Step | undefined {
  if ((name !== 'or' && name !== 'orValue') || first === undefined || second === undefined) return undefined
  return (frame) => {
    const optional = first(frame)
    if (!(optional instanceof Optional)) throw noSuchOverload()
    if (optional.value === undefined) return second(frame)
    return name === 'or' ? optional : optional.value
  }
}

/** `a.optMap(x, body)`; `isFlat` is `a.optFlatMap(x, body)`. The body reads the value from the slot. */
export const optionalMap =
  (operand: Step, slot: number, body: Step, isFlat: boolean): Step =>
  (frame) => {
    const before = frame.cost
    const optional = operand(frame)
    if (!(optional instanceof Optional)) throw noSuchOverload()
    const operandCost = frame.cost - before
    frame.charge(1)
    if (optional.value === undefined) {
      frame.charge(1)
      return none
    }
    // Upstream evaluates the operand again for its value.
    frame.charge(operandCost + 1)
    frame.locals[slot] = optional.value
    const value = body(frame)
    if (isFlat) return value
    frame.charge(1)
    return new Optional(value)
  }

/** An optional index costs nothing if there is no such element. */
export const unchargedNone =
  (step: Step): Step =>
  (frame) => {
    const value = step(frame)
    if (value === none) frame.charge(-1)
    return value
  }
