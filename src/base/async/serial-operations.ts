// SerialOperations: operations with the same key run one after the other.

export class SerialOperations {
  /** The last operation per key, which the next one waits for. */
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const operation = before === undefined ? action() : before.then(action, action)
    this.#last.set(key, operation)
    try {
      return await operation
    } finally {
      if (this.#last.get(key) === operation) this.#last.delete(key)
    }
  }
}
