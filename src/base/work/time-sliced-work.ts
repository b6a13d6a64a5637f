// TimeSlicedWork: runs many small callbacks in time slices, with a turn of the event loop in between. A change with a
// thousand watchers does not block other work, and watchers that run late get several changes at once.
import type { Clock } from '../time/clock.ts'
import { onNextTurn } from '../async/event-loop-turn.ts'

const sliceMs = 0.5
/** Number of callbacks between two reads of the clock. */
const worksPerCheck = 8

export class TimeSlicedWork {
  readonly #clock: Clock
  #works: (() => void)[] = []
  #next = 0
  #isPlanned = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs callbacks in the order in which they were added. A callback must not throw. */
  schedule(work: () => void): void {
    this.#works.push(work)
    if (this.#isPlanned) return
    this.#isPlanned = true
    onNextTurn(this.#slice)
  }

  readonly #slice = (): void => {
    const untilMs = this.#clock.monotonicMs() + sliceMs
    do for (let count = 0; count < worksPerCheck; count++) this.#works[this.#next++]?.()
    while (this.#next < this.#works.length && this.#clock.monotonicMs() < untilMs)
    this.#isPlanned = this.#next < this.#works.length
    if (this.#isPlanned) return onNextTurn(this.#slice)
    this.#works = []
    this.#next = 0
  }
}
