// Scope: names that loops and binds bring, each with a slot of the frame.

/** Where the values of names stand that loops and binds bring. */
export class Scope {
  readonly #slots: ReadonlyMap<string, number>
  readonly #highest: { count: number }

  constructor(slots: ReadonlyMap<string, number> = new Map(), highest = { count: 0 }) {
    this.#slots = slots
    this.#highest = highest
  }

  slot(name: string): number | undefined {
    return this.#slots.get(name)
  }

  /** A scope with one more name, and its slot. */
  with(name: string): readonly [Scope, number] {
    const slot = this.#highest.count++
    return [new Scope(new Map(this.#slots).set(name, slot), this.#highest), slot]
  }

  get slotCount(): number {
    return this.#highest.count
  }
}
