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
}

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

/** Called as `f(a, b)`. */
export const global = declared(false)
/** Called as `a.f(b)`. */
export const member = declared(true)
