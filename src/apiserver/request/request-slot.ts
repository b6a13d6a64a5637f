// RequestSlot: the place of one request in the schedule, from its start to its response. It holds the request's seat of priority
// and fairness, which it returns while the request waits for its client or for its turn.
import { finallyMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Pace, PacedRequests } from './paced-requests.ts'
import type { SlowUsers } from './slow-users.ts'

/** Where a request takes its seat. */
export interface SeatSource {
  /** Requests of the priority level are not limited. */
  readonly isExempt: boolean
  /** Synchronous where a seat is free; rejects with 429 where none is free in time. The returned function releases it. */
  take(): MaybePromise<() => void>
}

/** Of a server without priority and fairness. */
export const unlimitedSeats: SeatSource = { isExempt: false, take: () => () => {} }

export interface SlotOptions {
  readonly user: string
  readonly signal: AbortSignal
  readonly seats: SeatSource
  /** It came over the network, and its priority level is not exempt. */
  readonly isLimited: boolean
  readonly paced: PacedRequests
  readonly slowUsers: SlowUsers
}

export class RequestSlot {
  readonly #options: SlotOptions
  #releaseSeat: (() => void) | undefined

  constructor(options: SlotOptions) {
    this.#options = options
  }

  /** Handles the request with a seat, which it returns at the end. */
  run<T>(handle: (slot: RequestSlot) => MaybePromise<T>): MaybePromise<T> {
    const seated = this.takeSeat()
    return seated instanceof Promise ? seated.then(() => this.#handle(handle)) : this.#handle(handle)
  }

  #handle<T>(handle: (slot: RequestSlot) => MaybePromise<T>): MaybePromise<T> {
    return finallyMaybe(
      () => handle(this),
      () => this.leaveSeat(),
    )
  }

  takeSeat(): MaybePromise<void> {
    return thenMaybe(this.#options.seats.take(), (release) => void (this.#releaseSeat = release))
  }

  leaveSeat(): void {
    this.#releaseSeat?.()
    this.#releaseSeat = undefined
  }

  /** What the client is still sending. The request has no seat meanwhile. */
  receive<T>(body: MaybePromise<T>): MaybePromise<T> {
    if (!(body instanceof Promise)) return body
    this.leaveSeat()
    return body.then((received) => thenMaybe(this.takeSeat(), () => received))
  }

  /** Serves the request: at once, or in its turn and step by step if it may take long. */
  serve<T>(isLarge: boolean, work: (pace: Pace | undefined) => MaybePromise<T>): MaybePromise<T> {
    const { user, signal, isLimited, paced, slowUsers } = this.#options
    return isLarge || (isLimited && slowUsers.has(user)) ? paced.run(user, this, signal, work) : work(undefined)
  }

  /** A step of the request has taken the CPU time. */
  stepDone(cpuMs: number): void {
    const { user, isLimited, slowUsers } = this.#options
    if (isLimited) slowUsers.stepDone(user, cpuMs)
  }
}
