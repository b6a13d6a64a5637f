// Deadlines: requests under way and when each must be answered, with one timer for all of them.
import type { Clock, Timer } from '../../base/time/clock.ts'

const checkIntervalMs = 1_000

/** In a ring from the oldest to the youngest: to leave costs as little as to come. */
interface Pending {
  readonly untilMs: number
  readonly onTimeout: () => void
  before: Pending
  next: Pending
}

/**
 * Who has left knows nobody but itself. If it knew its next, then of two requests the collector of short-lived things
 * would keep the younger for the sake of the older, as soon as that has once outlived it: one after the other, all.
 */
const isRemoved = (pending: Pending): boolean => pending.next === pending

export class RequestDeadlines {
  readonly #clock: Clock
  /** Where the ring begins and ends. */
  readonly #ends: Pending
  #size = 0
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    const ends = { untilMs: Infinity, onTimeout: () => {} } as Pending
    this.#ends = Object.assign(ends, { before: ends, next: ends })
  }

  get size(): number {
    return this.#size
  }

  /** Calls `late` after this time at the earliest, a second later at the latest; the returned function ends the wait. */
  begin(ms: number, onTimeout: () => void): () => void {
    const [ends, { before }] = [this.#ends, this.#ends]
    const pending: Pending = { untilMs: this.#clock.monotonicMs() + ms, onTimeout, before, next: ends }
    before.next = pending
    ends.before = pending
    this.#size++
    this.#timer ??= this.#clock.after(checkIntervalMs, () => this.#check())
    return () => this.#remove(pending)
  }

  #remove(pending: Pending): void {
    if (isRemoved(pending)) return
    pending.before.next = pending.next
    pending.next.before = pending.before
    pending.before = pending.next = pending
    this.#size--
  }

  /** The timer outlives the requests, up to a second: most of the time the next one is there by then. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#timer = this.#size === 0 ? undefined : this.#clock.after(checkIntervalMs, () => this.#check())
    const onTimeout: Pending[] = []
    for (let pending = this.#ends.next; pending.untilMs <= nowMs; pending = pending.next) onTimeout.push(pending)
    for (const pending of onTimeout) if (!isRemoved(pending)) pending.onTimeout()
  }
}
