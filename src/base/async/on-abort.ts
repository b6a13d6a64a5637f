// What is to happen when a signal is aborted. A signal compares each new listener with all it has, and a component's one
// signal has hundreds: here all who wait for a signal share one listener, and coming and going costs the same for each.

const callbacks = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once, when the signal is aborted; it is not yet. The callback must not throw. */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  let waiting = callbacks.get(signal)
  if (waiting === undefined) {
    const all = (waiting = new Set())
    callbacks.set(signal, all)
    signal.addEventListener('abort', () => all.forEach((each) => each()), { once: true })
  }
  waiting.add(callback)
}

export const offAbort = (signal: AbortSignal, callback: () => void): void =>
  void callbacks.get(signal)?.delete(callback)
