// Values that are known at once most of the time and promised else. Where nothing has to be waited for, nothing waits:
// a hop through the queue of promises costs as much as the work of a station.

export type MaybePromise<T> = T | Promise<T>

/** Goes on with the value: now where it is known. */
export const thenMaybe = <T, U>(value: MaybePromise<T>, goOn: (known: T) => MaybePromise<U>): MaybePromise<U> =>
  value instanceof Promise ? value.then(goOn) : goOn(value)

/** Does the work and goes on with what comes of it, a value or an error. */
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

/** Does the work, then the end of it, however the work ends. */
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
