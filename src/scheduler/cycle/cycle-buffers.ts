// CycleBuffers: arrays with one entry per fitting node, reused by every cycle so that cycles create no garbage. Data
// that outlives a cycle is copied.

export class CycleBuffers {
  #fitting = new Int32Array(0)
  #numbers = new Float64Array(0)
  #totals = new Float64Array(0)
  readonly #columns: Uint8Array[] = []

  /** Buffer for the slots that fit. */
  fitting(count: number): Int32Array {
    return (this.#fitting = this.#fitting.length === count ? this.#fitting : new Int32Array(count))
  }

  /** Buffer for the scores of one plugin. */
  numbers(count: number): Float64Array {
    return (this.#numbers = this.#numbers.length === count ? this.#numbers : new Float64Array(count))
  }

  /** Zeroed buffer for the weighted sums. */
  totals(count: number): Float64Array {
    return (this.#totals = this.#totals.length === count ? this.#totals.fill(0) : new Float64Array(count))
  }

  /** Buffer for the normalised scores of the plugin with this index. */
  column(index: number, count: number): Uint8Array {
    const known = this.#columns[index]
    return (this.#columns[index] = known?.length === count ? known : new Uint8Array(count))
  }
}
