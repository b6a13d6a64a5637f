// unlessAborted: waits for shared work. The signal cancels the wait, not the work.
import { offAbort, onAbort } from './on-abort.ts'

export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // The work has no other waiter that handles its failure, which would end the process.
    work.catch(() => {})
    throw signal.reason
  }
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  onAbort(signal, abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    offAbort(signal, abort)
  }
}
