// Fifo: values in the order of their arrival. Both operations take constant time on average: Array.shift moves all elements
// of a long list, and the first entry of a Set is found by skipping those that were deleted before.
const removedMax = 1_024

export class Fifo<T> {
  #values: T[] = []
  /** The number of values at the start of the list that were removed. */
  #removed = 0

  get size(): number {
    return this.#values.length - this.#removed
  }

  push(value: T): void {
    this.#values.push(value)
  }

  /** Removes the oldest value. Undefined if there is none. */
  shift(): T | undefined {
    if (this.size === 0) return undefined
    const value = this.#values[this.#removed++]
    if (this.size === 0) this.clear()
    else if (this.#removed > removedMax && this.#removed > this.size) {
      this.#values = this.#values.slice(this.#removed)
      this.#removed = 0
    }
    return value
  }

  clear(): void {
    this.#values = []
    this.#removed = 0
  }
}
