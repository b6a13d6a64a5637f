// How often a view is drawn whose drawing takes long: the map of a large cluster. A change of the location is drawn at once.
import type { PageLocation } from '../model/permalink.ts'

/** A page whose parts are drawn for a part of the time. */
export interface PacedPage {
  readonly location: PageLocation
  nowMs(): number
  /** Draws again after a time; `before` is called first. */
  later(ms: number, before: () => void): Promise<void>
}

export class DrawPace {
  readonly #app: PacedPage
  readonly #stepMs: number
  #drawn: { readonly location: object; readonly atMs: number } | undefined
  #isWaiting = false

  constructor(app: PacedPage, stepMs: number) {
    this.#app = app
    this.#stepMs = stepMs
  }

  /** Whether the view is to be drawn now. Otherwise the page is drawn again when it is due. */
  isDue(): boolean {
    const { location } = this.#app
    const nowMs = this.#app.nowMs()
    const drawn = this.#drawn
    const restMs = drawn?.location === location ? drawn.atMs + this.#stepMs - nowMs : 0
    if (restMs <= 0) {
      this.#drawn = { location, atMs: nowMs }
      return true
    }
    if (!this.#isWaiting) {
      this.#isWaiting = true
      void this.#app.later(restMs, () => (this.#isWaiting = false))
    }
    return false
  }
}
