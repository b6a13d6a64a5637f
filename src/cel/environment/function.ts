// Overload: one form of a function: what it takes, what it gives, and what it does.
import type { CelType } from '../types/cel-type.ts'
import type { Value } from '../values/value.ts'

export interface Overload {
  /** Upstream's name of it; costs are found by it. */
  readonly id: string
  /** Called as `a.f(b)`: the first argument stands before the dot. */
  readonly isMember: boolean
  readonly args: readonly CelType[]
  /** What it also takes from an argument whose type is known at run time only. */
  readonly dynArgs?: readonly CelType[]
  readonly result: CelType
  /** The checker, or the look at the arguments at run time, has seen to it that they are of the declared types. */
  readonly call: (...args: readonly Value[]) => Value
}

/** All forms of each function, by its name. */
export type Functions = Readonly<Record<string, readonly Overload[]>>

type Implementation = (...args: never[]) => Value

const declared =
  (isMember: boolean) =>
  (id: string, args: readonly CelType[], result: CelType, call: Implementation): Overload => ({
    id,
    isMember,
    args,
    result,
    // What is declared in `args` is what arrives: an implementation says so in its own parameters.
    call: call as Overload['call'],
  })

/** Called as `f(a, b)`. */
export const global = declared(false)
/** Called as `a.f(b)`. */
export const member = declared(true)
