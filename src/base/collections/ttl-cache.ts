// TtlCache: a bounded cache whose entries expire. Keys are digests, so that the cache holds no credentials.
import type { Clock } from '../time/clock.ts'

interface Entry<T> {
  readonly value: T
  readonly untilMs: number
}

export class TtlCache<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #clock: Clock
  readonly #entriesMax: number

  constructor(clock: Clock, entriesMax: number) {
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs > this.#clock.nowMs()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Evicts the oldest entry when the cache is full, and the oldest entries that have expired. */
  set(key: string, value: T, ttlMs: number): void {
    const nowMs = this.#clock.nowMs()
    this.#entries.delete(key)
    for (const [oldest, { untilMs }] of this.#entries) {
      if (this.#entries.size < this.#entriesMax && untilMs > nowMs) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { value, untilMs: nowMs + ttlMs })
  }

  /** The number of entries, including those that have expired and were not removed. */
  get size(): number {
    return this.#entries.size
  }
}
