// Calls of functions: evaluates the arguments, finds the overload, calls it and charges its cost.
import { callCost, type CallCost } from '../cost/call-cost.ts'
import type { Overload } from '../environment/function.ts'
import { isList } from '../values/equality.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import { matchesType, runtimeType } from '../values/matches-type.ts'
import { valueText } from '../values/value-text.ts'
import type { Value } from '../values/value.ts'
import type { Frame, Step } from './evaluation-frame.ts'

/** `isSure`: there is one overload, and the types of the arguments are known to fit. */
export function invoke(name: string, overloads: readonly Overload[], steps: readonly Step[], isSure: boolean): Step {
  const [only] = overloads
  const [first, second] = steps
  if (only === undefined || !isSure || first === undefined || steps.length > 2) return invokeAny(name, overloads, steps)
  if (isSizeDependent(name, only)) return invokeSized(only, callCost(name, only.id), first, second)
  const { call } = only
  if (second === undefined)
    return (frame) => {
      const result = call(first(frame))
      frame.charge(1)
      return result
    }
  return (frame) => {
    const result = call(first(frame), second(frame))
    frame.charge(1)
    return result
  }
}

/** Overloads with a constant cost whose time nevertheless depends on their arguments. */
const sizedOverloads = new Set('add_list bytes_size map_size size_bytes size_map size_string string_size'.split(' '))

const isSizeDependent = (name: string, { id }: Overload): boolean =>
  callCost(name, id) !== undefined || sizedOverloads.has(id)

function invokeSized(overload: Overload, cost: CallCost | undefined, first: Step, second: Step | undefined): Step {
  const call = overload.steps === undefined ? overload.call : undefined
  const step: Step = onceInSlices(
    second === undefined
      ? (frame) => {
          const a = first(frame)
          frame.use(a)
          const result =
            frame.progress === undefined && call !== undefined ? call(a) : called(step, frame, overload, cost, [a])
          frame.charge(cost === undefined ? 1 : cost([a], result))
          return result
        }
      : (frame) => {
          const a = first(frame)
          const b = second(frame)
          frame.use(a)
          frame.use(b)
          const result =
            frame.progress === undefined && call !== undefined
              ? call(a, b)
              : called(step, frame, overload, cost, [a, b])
          frame.charge(cost === undefined ? 1 : cost([a, b], result))
          return result
        },
  )
  return step
}

/** An evaluation in slices evaluates the step once, even if it is interrupted later. */
function onceInSlices(evaluate: Step): Step {
  const step: Step = (frame) =>
    frame.progress === undefined ? evaluate(frame) : frame.progress.once(step, frame, evaluate)
  return step
}

/** In slices, a call whose cost is beyond the limit is not begun. */
function called(
  step: Step,
  frame: Frame,
  { call, steps }: Overload,
  cost: CallCost | undefined,
  args: readonly Value[],
): Value {
  const { progress } = frame
  if (progress !== undefined && cost !== undefined) frame.afford(cost(args, undefined))
  if (steps === undefined) return call(...args)
  return progress === undefined ? frame.finish(steps(...args)) : progress.run(step, () => steps(...args))
}

/** Functions of upstream's standard library, whose errors do not name the types of the arguments. */
const unnamedFunctions = new Set(['contains', 'endsWith', 'matches', 'startsWith'])

/** The error names functions, but not operators. */
function noOverloadFor(name: string, args: readonly Value[]): EvalError {
  const [operand, key] = args
  if (name === '_[_]' && operand !== undefined && key !== undefined) return wrongIndex(operand, key)
  if (name === 'size') return new EvalError('no such overload: size')
  if (!/^[\w.]+$/.test(name) || unnamedFunctions.has(name)) return noSuchOverload()
  return new EvalError(`no such overload: ${name}(${args.map(runtimeType).join(', ')})`)
}

function wrongIndex(operand: Value, key: Value): EvalError {
  if (!isList(operand)) return new EvalError(`no such key: ${valueText(key)}`)
  if (typeof key === 'number') return new EvalError(`unsupported index value ${key} in list`)
  return new EvalError(`unsupported index type '${runtimeType(key)}' in list`)
}

/** The first overload whose parameters accept the arguments. */
function invokeAny(name: string, overloads: readonly Overload[], steps: readonly Step[]): Step {
  const candidates = overloads.map((overload) => ({
    overload,
    cost: callCost(name, overload.id),
    isSized: isSizeDependent(name, overload),
  }))
  const evaluate: Step = (frame) => {
    const args = steps.map((each) => each(frame))
    const found = candidates.find(({ overload }) =>
      (overload.dynArgs ?? overload.args).every((type, index) => matchesType(args[index] ?? null, type)),
    )
    if (found === undefined) throw noOverloadFor(name, args)
    const { overload, cost, isSized } = found
    if (isSized) for (const arg of args) frame.use(arg)
    const result = isSized ? called(step, frame, overload, cost, args) : overload.call(...args)
    frame.charge(cost === undefined ? 1 : cost(args, result))
    return result
  }
  const step = candidates.some(({ isSized }) => isSized) ? onceInSlices(evaluate) : evaluate
  return step
}
