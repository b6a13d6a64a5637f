// RecentMap: a bounded map. The entry that was set longest ago is evicted first.

export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>()
  /** Of entries that do not count as one. */
  readonly #weights = new Map<K, number>()
  readonly #weightMax: number
  #weight = 0

  /** The largest number of entries, or the largest sum of their weights. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  /** The entries, oldest first. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }

  get size(): number {
    return this.#entries.size
  }

  set(key: K, value: V, weight = 1): void {
    this.delete(key)
    this.#entries.set(key, value)
    if (weight !== 1) this.#weights.set(key, weight)
    this.#weight += weight
    while (this.#weight > this.#weightMax) {
      const [oldest] = this.#entries.keys()
      this.delete(oldest as K)
    }
  }

  delete(key: K): void {
    if (!this.#entries.delete(key)) return
    this.#weight -= this.#weights.get(key) ?? 1
    this.#weights.delete(key)
  }
}
