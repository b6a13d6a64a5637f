// PacedTurns: schedules steps that block the event loop for long. One step runs at a time, and the event loop is then
// free for twice as long as the step took.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** Upper limit for the pause: a step may have taken long only because the machine was busy. */
const restMsMax = 200
/** Other work gets at least two thirds of the time. */
const restPerStep = 2

export class PacedTurns {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #isGiving = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the step may run. The step ends at the caller's next await. */
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
      const restMs = Math.min(restPerStep * (this.#clock.monotonicMs() - startMs), restMsMax)
      if (restMs >= 1) await new Promise<void>((resolve) => this.#clock.after(restMs, resolve))
    }
    this.#isGiving = false
  }
}
