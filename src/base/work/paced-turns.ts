// PacedTurns: schedules steps that block the event loop for long. One step runs at a time, and the event loop is then
// free for twice as long as the step took, or for longer if it is busy.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

/** Upper limit for the pause. */
const restMsMax = 500
/** Other work gets at least two thirds of the time, and nine tenths if it needs them. */
const restPerStepMin = 2
const restPerStepMax = 9
/** The event loop is busy if a turn takes more CPU time. */
const busyTurnMs = 2

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
      next()
      await this.#rest(await this.#turnMs())
    }
    this.#isGiving = false
  }

  async #rest(stepMs: number): Promise<void> {
    const minMs = Math.min(restPerStepMin * stepMs, restMsMax)
    const maxMs = Math.min(restPerStepMax * stepMs, restMsMax)
    if (minMs < 1) return
    const startMs = this.#clock.monotonicMs()
    do await new Promise<void>((resolve) => this.#clock.after(minMs, resolve))
    while ((await this.#turnMs()) > busyTurnMs && this.#clock.monotonicMs() < startMs + maxMs)
  }

  /** How much CPU time a turn of the event loop takes: on a busy machine, any turn lasts long. */
  async #turnMs(): Promise<number> {
    const startMs = this.#clock.cpuMs()
    await this.#clock.outside(eventLoopTurn())
    return this.#clock.cpuMs() - startMs
  }
}
