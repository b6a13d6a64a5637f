// HeldChanges: changes of objects that the kernel has rejected. Such an object is tried again when it changes, but not more
// often than its time allows, because each trial of a bad object delays the others.

interface Held<Change> {
  readonly retryAtMs: number
  /** The last change since the object was rejected. */
  readonly change: Change | undefined
}

export class HeldChanges<Key, Change> {
  readonly #held = new Map<Key, Held<Change>>()

  has(key: Key): boolean {
    return this.#held.has(key)
  }

  /** The object is left out until then. `change` is made at that time, even if no other follows. */
  hold(key: Key, retryAtMs: number, change?: Change): void {
    this.#held.set(key, { retryAtMs, change })
  }

  /** The object no longer exists. */
  forget(key: Key): void {
    this.#held.delete(key)
  }

  /** Whether the change is to be made now; otherwise it is held. */
  admits(key: Key, change: Change, nowMs: number): boolean {
    const held = this.#held.get(key)
    if (held !== undefined && held.retryAtMs > nowMs) {
      this.#held.set(key, { ...held, change })
      return false
    }
    this.#held.delete(key)
    return true
  }

  hasDue(nowMs: number): boolean {
    return this.#held.values().some(({ retryAtMs, change }) => retryAtMs <= nowMs && change !== undefined)
  }

  /** The changes whose time has come. */
  takeDue(nowMs: number): readonly Change[] {
    const due: Change[] = []
    for (const [key, { retryAtMs, change }] of this.#held)
      if (retryAtMs <= nowMs && change !== undefined) {
        due.push(change)
        this.#held.delete(key)
      }
    return due
  }
}
