// turn: one turn of the event loop. What computes for long takes one now and then, so that others get theirs.

/** The queue of promise jobs is empty when it ends, however long their chains were. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
