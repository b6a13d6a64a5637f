// Context is passed with every call: the signal that cancels it and the cause that explains it.
import { noCause, type Cause } from './flow-recorder.ts'

export interface Context {
  readonly signal: AbortSignal
  /** The recorded event that led to this call, and the store revisions that triggered its sender. */
  readonly cause: Cause
}

export const context = (signal: AbortSignal, cause: Cause = noCause): Context => ({ signal, cause })

/** The same signal with another cause. */
export const withCause = (ctx: Context, cause: Cause): Context => ({ signal: ctx.signal, cause })
