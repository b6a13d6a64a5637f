// RecentMap: a bounded map. The entry that was set longest ago is evicted first.

export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#entriesMax) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest as K)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }
}
