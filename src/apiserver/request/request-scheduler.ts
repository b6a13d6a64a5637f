// RequestScheduler: decides when a request may use the event loop. A request waits at three points:
//
// 1. for its user's turn, while the event loop is busy;
// 2. for a seat of its priority level, which it returns while its client sends the body;
// 3. for its place among the requests that take long: those with a large body, and those of users whose last requests took
//    much CPU time. Such a request also waits between its steps.
//
// Requests of an exempt priority level wait only for a place with a large body, because these take memory. Components of this
// process do not wait for clients.
import { finallyMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { realClock, type Clock } from '../../base/time/clock.ts'
import { FairTurns } from '../../base/work/fair-turns.ts'
import { PacedRequests } from './paced-requests.ts'
import type { ApiRequest, User } from './request.ts'
import { RequestSlot, type SeatSource } from './request-slot.ts'
import { SlowUsers } from './slow-users.ts'

/** What the scheduler uses of a request. */
interface Scheduled extends Pick<ApiRequest, 'credentials' | 'context'> {
  readonly user?: Pick<User, 'name'> | undefined
}

export class RequestScheduler {
  /** Undefined on a virtual clock, where nothing takes time. */
  readonly #turns: FairTurns<string> | undefined
  readonly #paced: PacedRequests
  readonly #slowUsers: SlowUsers

  constructor(clock: Clock, turns = clock === realClock ? new FairTurns<string>(clock, 'asynchronous') : undefined) {
    this.#turns = turns
    this.#paced = new PacedRequests(clock)
    this.#slowUsers = new SlowUsers(clock)
  }

  /** Handles the request in its user's turn, with a seat. */
  run<T>(
    { user: { name: user } = { name: '' }, credentials, context: { signal } }: Scheduled,
    seats: SeatSource,
    handle: (slot: RequestSlot) => MaybePromise<T>,
  ): MaybePromise<T> {
    const isLimited = credentials.kind === 'presented' && !seats.isExempt
    const slot = new RequestSlot({ user, signal, seats, isLimited, paced: this.#paced, slowUsers: this.#slowUsers })
    const start = () =>
      thenMaybe(slot.takeSeat(), () =>
        finallyMaybe(
          () => handle(slot),
          () => slot.leaveSeat(),
        ),
      )
    return isLimited && this.#turns !== undefined ? this.#turns.run(user, start) : start()
  }
}
