// Overload: one signature of a function and its implementation.
import type { CelType } from '../types/cel-type.ts'
import type { Value } from '../values/value.ts'

export interface Overload {
  /** Upstream's id of the overload, by which costs are looked up. */
  readonly id: string
  /** Called as `a.f(b)`: the first argument is the receiver. */
  readonly isMember: boolean
  readonly args: readonly CelType[]
  /** Additional types of arguments that are only known at run time. */
  readonly dynArgs?: readonly CelType[]
  readonly result: CelType
  /** The arguments have the declared types: the checker or the dispatch at run time has verified it. */
  readonly call: (...args: readonly Value[]) => Value
  /** The same in steps, for calls that can take long. Yields regularly. */
  readonly steps?: (...args: readonly Value[]) => CallSteps
}

export type CallSteps = Generator<undefined, Value, undefined>

/** All overloads of each function, by name. */
export type Functions = Readonly<Record<string, readonly Overload[]>>

type Implementation = (...args: never[]) => Value

const declared =
  (isMember: boolean) =>
  (id: string, args: readonly CelType[], result: CelType, call: Implementation): Overload => ({
    id,
    isMember,
    args,
    result,
    // Arguments have the types declared in `args`; an implementation declares the same types as parameters.
    call: call as Overload['call'],
  })

/** An overload that is called in steps. */
export const inSteps = (
  declare: typeof global,
  id: string,
  args: readonly CelType[],
  result: CelType,
  steps: (...given: never[]) => CallSteps,
): Overload => {
  const begin = steps as NonNullable<Overload['steps']>
  return { ...declare(id, args, result, (...given: Value[]) => finished(begin(...given))), steps: begin }
}

function finished(steps: CallSteps): Value {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Called as `f(a, b)`. */
export const global = declared(false)
/** Called as `a.f(b)`. */
export const member = declared(true)
