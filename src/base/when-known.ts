// Values that are known at once most of the time and promised else. Where nothing has to be waited for, nothing waits:
// a hop through the queue of promises costs as much as the work of a station.

export type Soon<T> = T | Promise<T>

/** Goes on with the value: now where it is known. */
export const whenKnown = <T, U>(value: Soon<T>, goOn: (known: T) => Soon<U>): Soon<U> =>
  value instanceof Promise ? value.then(goOn) : goOn(value)

/** Does the work and goes on with what comes of it, a value or an error. */
export function whenSettled<T, U>(
  work: () => Soon<T>,
  known: (value: T) => Soon<U>,
  failed: (error: unknown) => Soon<U>,
): Soon<U> {
  let result: Soon<T>
  try {
    result = work()
  } catch (error) {
    return failed(error)
  }
  return result instanceof Promise ? result.then(known, failed) : known(result)
}

/** Does the work, then the end of it, however the work ends. */
export function ending<T>(work: () => Soon<T>, end: () => void): Soon<T> {
  let result: Soon<T>
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
