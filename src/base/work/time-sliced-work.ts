// SharedTurns: many small works that have become due, done in slices, with a turn of the event loop between two of them.
// One change that a thousand watchers want holds nobody up, and who is told late is told of several changes at once.
import type { Clock } from '../time/clock.ts'
import { onNextTurn } from '../async/event-loop-turn.ts'

const sliceMs = 0.5
/** The clock is read once for so many works. */
const worksPerLook = 8

export class TimeSlicedWork {
  readonly #clock: Clock
  #works: (() => void)[] = []
  #next = 0
  #isPlanned = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In the order of coming. The work must not throw. */
  schedule(work: () => void): void {
    this.#works.push(work)
    if (this.#isPlanned) return
    this.#isPlanned = true
    onNextTurn(this.#slice)
  }

  readonly #slice = (): void => {
    const untilMs = this.#clock.monotonicMs() + sliceMs
    do for (let count = 0; count < worksPerLook; count++) this.#works[this.#next++]?.()
    while (this.#next < this.#works.length && this.#clock.monotonicMs() < untilMs)
    this.#isPlanned = this.#next < this.#works.length
    if (this.#isPlanned) return onNextTurn(this.#slice)
    this.#works = []
    this.#next = 0
  }
}
