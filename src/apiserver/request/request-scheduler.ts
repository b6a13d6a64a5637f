// RequestScheduler: decides when a request may use the event loop. A request waits at three points:
//
// 1. for its user's turn, while the event loop is busy. Components of this process take turns among themselves and do not wait
//    for clients; but what they write at once does not fill one turn of the event loop, in which no client would be served;
// 2. for a seat of its priority level, which it returns while its client sends the body;
// 3. for its place among the requests that take long: those with a large body, and those of users whose last requests took
//    much CPU time. Such a request also waits between its steps.
//
// Requests of clients with an exempt priority level wait only for a place with a large body, because these take memory.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
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

/** Whatever else the event loop does, a few dozen of their requests start in each of its turns. */
const componentStartsMin = 32

export class RequestScheduler {
  /** Undefined on a virtual clock, where nothing takes time. */
  readonly #clientTurns: FairTurns<string> | undefined
  readonly #componentTurns: FairTurns<string> | undefined
  readonly #paced: PacedRequests
  readonly #slowUsers: SlowUsers

  constructor(
    clock: Clock,
    newTurns = (startsMin: number) =>
      clock === realClock ? new FairTurns<string>(clock, 'asynchronous', startsMin) : undefined,
  ) {
    this.#clientTurns = newTurns(1)
    this.#componentTurns = newTurns(componentStartsMin)
    this.#paced = new PacedRequests(clock)
    this.#slowUsers = new SlowUsers(clock)
  }

  /** Handles the request in its user's turn, with a seat. */
  run<T>(
    { user: { name: user } = { name: '' }, credentials, context: { signal } }: Scheduled,
    seats: SeatSource,
    handle: (slot: RequestSlot) => MaybePromise<T>,
  ): MaybePromise<T> {
    const isClient = credentials.kind === 'presented'
    const isLimited = isClient && !seats.isExempt
    const slot = new RequestSlot({ user, signal, seats, isLimited, paced: this.#paced, slowUsers: this.#slowUsers })
    const turns = isLimited ? this.#clientTurns : isClient ? undefined : this.#componentTurns
    return turns === undefined ? slot.run(handle) : turns.run(user, () => slot.run(handle))
  }
}
