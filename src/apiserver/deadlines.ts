// Deadlines: requests under way and when each must be answered, with one timer for all of them.
import type { Clock, Timer } from '../base/clock.ts'

const lookMs = 1_000

interface Pending {
  readonly untilMs: number
  readonly late: () => void
}

export class Deadlines {
  readonly #clock: Clock
  readonly #pending = new Set<Pending>()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#pending.size
  }

  /** Calls `late` after this time at the earliest, a second later at the latest; the returned function ends the wait. */
  begin(ms: number, late: () => void): () => void {
    const pending = { untilMs: this.#clock.monotonicMs() + ms, late }
    this.#pending.add(pending)
    this.#timer ??= this.#clock.after(lookMs, () => this.#look())
    return () => void this.#pending.delete(pending)
  }

  /** The timer outlives the requests, up to a second: most of the time the next one is there by then. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#timer = this.#pending.size === 0 ? undefined : this.#clock.after(lookMs, () => this.#look())
    // The oldest stand first.
    for (const pending of [...this.#pending]) {
      if (pending.untilMs > nowMs) break
      pending.late()
    }
  }
}
