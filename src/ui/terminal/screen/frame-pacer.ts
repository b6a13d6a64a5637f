// FramePacer: draws at most once per interval, however often something changes. The first change is drawn at once.
import type { Clock, Timer } from '../../../base/time/clock.ts'

/** Twenty frames a second. */
export const frameMs = 50

export class FramePacer {
  readonly #clock: Clock
  readonly #draw: () => void
  #timer: Timer | undefined
  #lastMs = -Infinity

  constructor(clock: Clock, draw: () => void) {
    this.#clock = clock
    this.#draw = draw
  }

  /** Something has changed. */
  request(): void {
    if (this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#lastMs + frameMs - this.#clock.monotonicMs())
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = undefined
      this.#lastMs = this.#clock.monotonicMs()
      this.#draw()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
