// turn: one turn of the event loop. What computes for long takes one now and then, so that others get theirs.

/** The queue of promise jobs is empty when it ends, however long their chains were. */
export const turn = (): Promise<void> => new Promise(nextTurn)

/** Calls back in the next turn, behind what has come in until then. */
export function nextTurn(callback: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else setTimeout(callback, 0)
}
