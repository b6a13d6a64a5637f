// How often a view is drawn whose drawing takes long: the map of a large cluster. A change of the location is drawn at once.
import type { App } from './app.ts'

export class DrawPace {
  readonly #app: Pick<App, 'location' | 'nowMs' | 'later'>
  readonly #stepMs: number
  #drawn: { readonly location: object; readonly atMs: number } | undefined
  #isWaiting = false

  constructor(app: Pick<App, 'location' | 'nowMs' | 'later'>, stepMs: number) {
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
