// A value that is computed from data which changes all the time, such as the diagram. Computing it may take longer than a frame, so it
// is computed for a part of the time only; a change of what is asked for is computed at once.
import type { PacedPage } from './draw-pace.ts'

/** After computing, the page is free for this many times as long, so that few frames are omitted. */
const restFactor = 9
/** A value changes at most this often: drawing it takes the browser longer than computing it. */
const stepMs = 100

export class PacedValue<T> {
  readonly #page: Pick<PacedPage, 'nowMs' | 'later'>
  #last: { readonly key: string; readonly version: number; readonly value: T } | undefined
  #freeUntilMs = 0
  #isWaiting = false

  constructor(page: Pick<PacedPage, 'nowMs' | 'later'>) {
    this.#page = page
  }

  /** `key` is what is asked for, `version` that of the data. */
  get(key: string, version: number, compute: () => T): T {
    const last = this.#last
    if (last?.key === key && (last.version === version || this.#mustWait())) return last.value
    const startMs = this.#page.nowMs()
    const value = compute()
    const endMs = this.#page.nowMs()
    this.#freeUntilMs = Math.max(startMs + stepMs, endMs + (endMs - startMs) * restFactor)
    this.#last = { key, version, value }
    return value
  }

  /** Draws again when the time is over. */
  #mustWait(): boolean {
    const restMs = this.#freeUntilMs - this.#page.nowMs()
    if (restMs <= 0) return false
    if (!this.#isWaiting) {
      this.#isWaiting = true
      void this.#page.later(restMs, () => (this.#isWaiting = false))
    }
    return true
  }
}
