// leisure: a turn for work that can wait, such as telling what has happened. Few are given in each turn of the event loop,
// whoever asks, so that all else comes first; and each turn some, so that what waits is done in the end.
import type { Clock } from '../time/clock.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'

const givenPerTurnMin = 2
/** Where many wait, several go abreast: those behind the first find the code of each step near. */
const givenPerTurnMax = 16
/** One more of them for so many that wait. */
const waitingPerGiven = 32

class LowPriorityTurns {
  readonly #clock: Clock
  #waiting: (() => void)[] = []
  /** Those before it have had their turn. */
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

/** Those who share a clock share their leisure. */
const ofClocks = new WeakMap<Clock, LowPriorityTurns>()

/** Resolves when it is the caller's turn. */
export function lowPriorityTurn(clock: Clock): Promise<void> {
  const known = ofClocks.get(clock) ?? new LowPriorityTurns(clock)
  ofClocks.set(clock, known)
  return known.take()
}
