// lowPriorityTurn: schedules work that can wait, such as writing events. A few of the waiting callers run in each turn
// of the event loop: other work goes first, and low-priority work still makes progress.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

const givenPerTurnMin = 2
/** With many waiting callers, several run in a row, since the code of each step is then in the processor's caches. */
const givenPerTurnMax = 16
/** One more caller per turn for this many waiting callers. */
const waitingPerGiven = 32

class LowPriorityTurns {
  readonly #clock: Clock
  #waiting: (() => void)[] = []
  /** Index of the next caller to run. */
  #next = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(): Promise<void> {
    const taken = new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.#waiting.length === 1) void this.#clock.outside(this.#give())
    return taken
  }

  async #give(): Promise<void> {
    while (this.#next < this.#waiting.length) {
      await eventLoopTurn()
      const due = Math.trunc((this.#waiting.length - this.#next) / waitingPerGiven)
      const end = this.#next + Math.min(givenPerTurnMax, Math.max(givenPerTurnMin, due))
      for (; this.#next < end; this.#next++) this.#waiting[this.#next]?.()
    }
    this.#waiting = []
    this.#next = 0
  }
}

/** All users of a clock share one queue. */
const ofClocks = new WeakMap<Clock, LowPriorityTurns>()

/** Resolves when the caller may run. */
export function lowPriorityTurn(clock: Clock): Promise<void> {
  const known = ofClocks.get(clock) ?? new LowPriorityTurns(clock)
  ofClocks.set(clock, known)
  return known.take()
}
