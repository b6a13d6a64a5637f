// LruMap: a bounded map that evicts the least recently used entry. The order of use is only tracked while the map is at
// least half full, because entries are not evicted before.
export class LruMap<Value> {
  readonly #values = new Map<string, Value>()
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  getOrInsert(key: string, make: () => Value): Value {
    const known = this.#values.get(key)
    if (known !== undefined && this.#values.size * 2 < this.#sizeMax) return known
    if (known !== undefined) this.#values.delete(key)
    const value = known ?? make()
    this.#values.set(key, value)
    if (this.#values.size > this.#sizeMax) this.#values.delete(this.#values.keys().next().value ?? '')
    return value
  }

  values(): IterableIterator<Value> {
    return this.#values.values()
  }

  clear(): void {
    this.#values.clear()
  }
}
