// withTimeLimit: ends synchronous work that would never end, which the timeout of a test cannot.
import { runInNewContext } from 'node:vm'

/** Work that ends at all needs milliseconds; the limit leaves room for a busy machine. */
const limitMs = 60_000

/** Throws an error that says so when the work does not end. */
export function withTimeLimit<T>(work: () => T, timeout = limitMs): T {
  try {
    return runInNewContext('work()', { work }, { timeout }) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new Error(`the work did not end within ${timeout} ms`, { cause: error })
  }
}
