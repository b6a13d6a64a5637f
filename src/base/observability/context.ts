// Context travels with every call: the signal that ends it and the cause that explains it.
import { noCause, type Cause } from './flow-recorder.ts'

export interface Context {
  readonly signal: AbortSignal
  /** The recorded event that led to this call, and the store revisions that woke its sender. */
  readonly cause: Cause
}

export const context = (signal: AbortSignal, cause: Cause = noCause): Context => ({ signal, cause })

/** The same signal, another cause. */
export const withCause = (ctx: Context, cause: Cause): Context => ({ signal: ctx.signal, cause })
