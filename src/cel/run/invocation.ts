// Calls of functions: evaluates the arguments, finds the overload, calls it and charges its cost.
import type { Sliced } from '../../base/work/work-slice.ts'
import { callCost, type CallCost } from '../cost/call-cost.ts'
import type { CallSteps, Overload } from '../environment/function.ts'
import { isList } from '../values/equality.ts'
import { EvalError, noSuchOverload } from '../values/eval-error.ts'
import { matchesType, runtimeType } from '../values/matches-type.ts'
import { valueText } from '../values/value-text.ts'
import type { Value } from '../values/value.ts'
import type { Frame } from './evaluation-frame.ts'
import { withOperand, withOperands, withPauses, type Step } from './step.ts'

/** `isSure`: there is one overload, and the types of the arguments are known to fit. */
export function invoke(name: string, overloads: readonly Overload[], steps: readonly Step[], isSure: boolean): Step {
  const [only] = overloads
  const [first, second] = steps
  if (only === undefined || !isSure || first === undefined || steps.length > 2) return invokeAny(name, overloads, steps)
  if (isSizeDependent(name, only))
    return invokeSized({ overload: only, cost: callCost(name, only.id), isSized: true }, first, second)
  const { call } = only
  if (second === undefined)
    return withOperand(first, (frame, value) => {
      const result = call(value)
      frame.charge(1)
      return result
    })
  const callBoth = (frame: Frame, a: Value, b: Value): Value => {
    const result = call(a, b)
    frame.charge(1)
    return result
  }
  return withOperands(
    steps,
    (frame, [a = null, b = null]) => callBoth(frame, a, b),
    (frame) => callBoth(frame, first(frame), second(frame)),
  )
}

/** Overloads with a constant cost whose time nevertheless depends on their arguments. */
const sizedOverloads = new Set('add_list bytes_size map_size size_bytes size_map size_string string_size'.split(' '))

const isSizeDependent = (name: string, { id }: Overload): boolean =>
  callCost(name, id) !== undefined || sizedOverloads.has(id)

/** A resolved call. The cost is one where it is undefined. */
interface ResolvedCall {
  readonly overload: Overload
  readonly cost: CallCost | undefined
  readonly isSized: boolean
}

function invokeSized(call: ResolvedCall, first: Step, second: Step | undefined): Step {
  const evaluate: Step = (frame) =>
    called(frame, call, second === undefined ? [first(frame)] : [first(frame), second(frame)])
  const operands = second === undefined ? [first] : [first, second]
  return withPauses(evaluate, (frame) => calledInSlices(frame, operands, () => call))
}

function called(frame: Frame, { overload, cost, isSized }: ResolvedCall, args: readonly Value[]): Value {
  if (isSized) for (const arg of args) frame.use(arg)
  const { steps } = overload
  const result = steps === undefined ? overload.call(...args) : frame.finish(steps(...args))
  frame.charge(cost === undefined ? 1 : cost(args, result))
  return result
}

/** Pauses after the call, and between its steps. A call whose cost is beyond the limit is not begun. */
function* calledInSlices(
  frame: Frame,
  operands: readonly Step[],
  resolve: (args: readonly Value[]) => ResolvedCall,
): Sliced<Value> {
  const args: Value[] = []
  for (const operand of operands)
    args.push(operand.inSlices === undefined ? operand(frame) : yield* operand.inSlices(frame))
  const { overload, cost } = resolve(args)
  if (cost !== undefined) frame.afford(cost(args, undefined))
  const result = overload.steps === undefined ? overload.call(...args) : yield* paced(frame, overload.steps(...args))
  frame.charge(cost === undefined ? 1 : cost(args, result))
  if (frame.isSliceUsedUp()) yield
  return result
}

function* paced(frame: Frame, steps: CallSteps): Sliced<Value> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (frame.isSliceUsedUp()) yield
  }
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
  const candidates: readonly ResolvedCall[] = overloads.map((overload) => ({
    overload,
    cost: callCost(name, overload.id),
    isSized: isSizeDependent(name, overload),
  }))
  const resolve = (args: readonly Value[]): ResolvedCall => {
    const found = candidates.find(({ overload }) =>
      (overload.dynArgs ?? overload.args).every((type, index) => matchesType(args[index] ?? null, type)),
    )
    if (found === undefined) throw noOverloadFor(name, args)
    return found
  }
  const finish = (frame: Frame, args: readonly Value[]): Value => called(frame, resolve(args), args)
  const step = withOperands(steps, finish)
  return candidates.some(({ isSized }) => isSized)
    ? withPauses(step, (frame) => calledInSlices(frame, steps, resolve))
    : step
}
