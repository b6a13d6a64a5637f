// The rows of a list that the user has selected for an action.

/** More are not selected: an action is a request for each. */
export const selectedMax = 200

export class RowSelection {
  readonly #keys = new Set<string>()

  get size(): number {
    return this.#keys.size
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  keys(): Iterable<string> {
    return this.#keys
  }

  toggle(key: string): void {
    if (!this.#keys.delete(key) && this.#keys.size < selectedMax) this.#keys.add(key)
  }

  /** Selects the first of these rows, or none if all of those are selected. */
  toggleAll(keys: readonly string[]): void {
    const wanted = keys.slice(0, selectedMax)
    const areSelected = this.#keys.size === wanted.length && wanted.every((key) => this.#keys.has(key))
    this.#keys.clear()
    if (!areSelected) for (const key of wanted) this.#keys.add(key)
  }

  clear(): void {
    this.#keys.clear()
  }
}
