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

  /** Evicts the oldest entry when the cache is full. */
  set(key: string, value: T, ttlMs: number): void {
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= this.#entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(key, { value, untilMs: this.#clock.nowMs() + ttlMs })
  }
}
