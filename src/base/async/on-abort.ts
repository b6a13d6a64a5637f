// Abort listeners. An AbortSignal compares each new listener with all existing ones, and a component's signal has
// hundreds. Here all listeners of a signal share one event listener, so adding and removing takes constant time.

const callbacks = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls back once when the signal is aborted; the signal must not be aborted yet. The callback must not throw. */
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
