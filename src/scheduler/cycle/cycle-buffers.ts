// CycleMemory: the lists that a cycle fills for every fitting node. Cycles take turns in it, so that none leaves anything
// to be collected; what is to outlive a cycle is copied.

export class CycleBuffers {
  #fitting = new Int32Array(0)
  #numbers = new Float64Array(0)
  #totals = new Float64Array(0)
  readonly #columns: Uint8Array[] = []

  /** Room for the slots that fit. */
  fitting(count: number): Int32Array {
    return (this.#fitting = this.#fitting.length === count ? this.#fitting : new Int32Array(count))
  }

  /** Room for what one plugin says. */
  numbers(count: number): Float64Array {
    return (this.#numbers = this.#numbers.length === count ? this.#numbers : new Float64Array(count))
  }

  /** Zeros to add to. */
  totals(count: number): Float64Array {
    return (this.#totals = this.#totals.length === count ? this.#totals.fill(0) : new Float64Array(count))
  }

  /** Room for what the plugin of this index gave. */
  column(index: number, count: number): Uint8Array {
    const known = this.#columns[index]
    return (this.#columns[index] = known?.length === count ? known : new Uint8Array(count))
  }
}
