// eventLoopTurn: waits for one turn of the event loop. Long computations await it regularly so that other work can run.

/** All pending promise jobs have run when it resolves. */
export const eventLoopTurn = (): Promise<void> => new Promise(onNextTurn)

/** Calls back in the next turn, after everything that is already queued. */
export function onNextTurn(callback: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else setTimeout(callback, 0)
}
