// RecentMap: the entries that were added last, up to a bound; the oldest one makes room.

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
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#entriesMax) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest as K)
  }
}
