// A time limit for calls to plugins.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'

/** The call took longer than its limit; whether it took effect is not known. */
export class TimeLimitExceeded extends Error {
  override name = 'TimeLimitExceeded'
}

export async function withTimeLimit<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const exceeded = new TimeLimitExceeded('context deadline exceeded')
  const timer = clock.after(limitMs, () => limit.abort(exceeded))
  try {
    const either = AbortSignal.any([signal, limit.signal])
    return await unlessAborted(call(either), either)
  } catch (error) {
    signal.throwIfAborted()
    throw limit.signal.aborted ? exceeded : error
  } finally {
    timer.cancel()
  }
}
