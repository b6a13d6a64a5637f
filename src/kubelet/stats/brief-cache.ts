// BriefCache: the result of a collection, which requests within a short time share.
import type { Clock } from '../../base/time/clock.ts'

export class BriefCache<T> {
  readonly #clock: Clock
  readonly #cacheMs: number
  #last: { readonly untilMs: number; readonly value: Promise<T> } | undefined

  constructor(clock: Clock, cacheMs: number) {
    this.#clock = clock
    this.#cacheMs = cacheMs
  }

  /** The cached value, or undefined if it has expired. */
  get current(): Promise<T> | undefined {
    return this.#last !== undefined && this.#last.untilMs > this.#clock.monotonicMs() ? this.#last.value : undefined
  }

  clear(): void {
    this.#last = undefined
  }

  /** A failure is not cached. */
  async getOrCollect(collect: () => Promise<T>): Promise<T> {
    const known = this.current
    if (known !== undefined) return known
    const value = collect()
    this.#last = { untilMs: this.#clock.monotonicMs() + this.#cacheMs, value }
    try {
      return await value
    } catch (error) {
      this.#last = undefined
      throw error
    }
  }
}
