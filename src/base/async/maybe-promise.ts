// Values that are usually available synchronously and otherwise a promise. Synchronous values are not wrapped in a
// promise, since an extra microtask costs as much as a request filter.

export type MaybePromise<T> = T | Promise<T>

/** Continues with the value, synchronously if it is available. */
export const thenMaybe = <T, U>(value: MaybePromise<T>, onValue: (known: T) => MaybePromise<U>): MaybePromise<U> =>
  value instanceof Promise ? value.then(onValue) : onValue(value)

/** Runs the work and continues with its result or error. */
export function settleMaybe<T, U>(
  work: () => MaybePromise<T>,
  known: (value: T) => MaybePromise<U>,
  failed: (error: unknown) => MaybePromise<U>,
): MaybePromise<U> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    return failed(error)
  }
  return result instanceof Promise ? result.then(known, failed) : known(result)
}

/** Runs the work, then `end`, whether it succeeds or fails. */
export function finallyMaybe<T>(work: () => MaybePromise<T>, end: () => void): MaybePromise<T> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    end()
    throw error
  }
  if (!(result instanceof Promise)) {
    end()
    return result
  }
  return result.then(
    (known) => {
      end()
      return known
    },
    (error: unknown) => {
      end()
      throw error
    },
  )
}
