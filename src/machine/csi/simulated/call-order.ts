// CallOrder: performs one call after the other, because calls read and change the same records.
export class CallOrder {
  /** The last call, whether it failed or not. */
  #last: Promise<unknown> = Promise.resolve()

  run<T>(call: () => T | Promise<T>): Promise<T> {
    const next = this.#last.then(call)
    this.#last = next.catch(() => {})
    return next
  }
}
