// turn: one turn of the event loop. What computes for long takes one now and then, so that others get theirs.

/** The queue of promise jobs is empty when it ends, however long their chains were. */
export const eventLoopTurn = (): Promise<void> => new Promise(onNextTurn)

/** Calls back in the next turn, behind what has come in until then. */
export function onNextTurn(callback: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else setTimeout(callback, 0)
}
