// RequestDeadlines: the deadlines of all requests in progress, with one timer.
import type { Clock, Timer } from '../../base/time/clock.ts'

const checkIntervalMs = 1_000

/** An entry of a circular list, oldest first. Adding and removing take constant time. */
interface Pending {
  readonly untilMs: number
  readonly onTimeout: () => void
  before: Pending
  next: Pending
}

/**
 * A removed entry refers only to itself. If it referred to the next one, an entry in the old generation of the heap
 * would keep its successor alive, which would then be promoted too, and so on for all following requests.
 */
const isRemoved = (pending: Pending): boolean => pending.next === pending

export class RequestDeadlines {
  readonly #clock: Clock
  /** The sentinel of the circular list. */
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

  /** Calls `onTimeout` after `ms`, at most a second late. The returned function removes the entry. */
  begin(ms: number, onTimeout: () => void): () => void {
    const ends = this.#ends
    const { before } = this.#ends
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

  /** The timer runs up to a second after the last request, because another one usually follows by then. */
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
