// Scope: variables of loops and binds, each with a slot of the frame.
import type { Step } from './step.ts'

/** The slot of a variable. */
export interface Local {
  readonly slot: number
  /** Computes the value when it is first read; undefined for variables that a loop sets. */
  readonly make: Step | undefined
}

export class Scope {
  readonly #slots: ReadonlyMap<string, Local>
  readonly #highest: { count: number }

  constructor(slots: ReadonlyMap<string, Local> = new Map(), highest = { count: 0 }) {
    this.#slots = slots
    this.#highest = highest
  }

  local(name: string): Local | undefined {
    return this.#slots.get(name)
  }

  /** The scope with one more variable, and its slot. */
  with(name: string, make?: Step): readonly [Scope, number] {
    const slot = this.#highest.count++
    return [new Scope(new Map(this.#slots).set(name, { slot, make }), this.#highest), slot]
  }

  get slotCount(): number {
    return this.#highest.count
  }
}
