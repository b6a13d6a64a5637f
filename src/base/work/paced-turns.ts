// PacedTurns: turns of the event loop for steps that hold it for long. One step is taken in a turn; then the loop has as
// much time for everything else as the step took.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** A longer step is not paid back in full: it may have been long because the machine was busy. */
const restMsMax = 200

export class PacedTurns {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #isGiving = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the step may be taken. It ends where its caller waits for something else. */
  take(): Promise<void> {
    const taken = new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (!this.#isGiving) void this.#give()
    return taken
  }

  async #give(): Promise<void> {
    this.#isGiving = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const startMs = this.#clock.monotonicMs()
      next()
      await this.#clock.outside(eventLoopTurn())
      const restMs = Math.min(this.#clock.monotonicMs() - startMs, restMsMax)
      if (restMs >= 1) await new Promise<void>((resolve) => this.#clock.after(restMs, resolve))
    }
    this.#isGiving = false
  }
}
