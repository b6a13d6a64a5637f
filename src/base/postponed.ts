// Postponed: work that begins a turn of the event loop later, unless it has become needless by then.
import type { Clock } from './clock.ts'
import { turn } from './turn.ts'

export class Postponed<T> {
  #begun: Promise<T> | undefined
  #isNeedless = false

  constructor(clock: Clock, work: () => Promise<T>) {
    void this.#begin(clock, work)
  }

  /** It does not begin any more; what has begun is waited for, and what came of it returned. */
  async end(): Promise<{ readonly result: T } | undefined> {
    this.#isNeedless = true
    return this.#begun === undefined ? undefined : { result: await this.#begun }
  }

  async #begin(clock: Clock, work: () => Promise<T>): Promise<void> {
    await clock.outside(turn())
    if (this.#isNeedless) return
    this.#begun = work()
    this.#begun.catch(() => {}) // whoever ends it is told
  }
}
