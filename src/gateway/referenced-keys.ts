// ReferencedKeys: the objects that a plan has read, whether they exist or not, by resource and key.

export class ReferencedKeys {
  #complete = new Set<string>()
  /** Of the plan that is being computed. */
  #current = new Set<string>()

  /** Returns the key. */
  add(resource: string, key: string): string {
    this.#current.add(`${resource} ${key}`)
    return key
  }

  /** The plan was computed: what only earlier plans have read does not matter any more. */
  complete(): void {
    this.#complete = this.#current
    this.#current = new Set()
  }

  /** Also while a plan is being computed, because it may have read the object before the change. */
  has(resource: string, key: string): boolean {
    const text = `${resource} ${key}`
    return this.#complete.has(text) || this.#current.has(text)
  }
}
