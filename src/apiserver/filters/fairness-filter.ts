// The fairness filter: a request takes a seat of its priority level, or waits for one. It can return the seat while its
// client sends the body (awaited-bodies.ts) and while it waits for its turn (paced-requests.ts).
import { finallyMaybe, thenMaybe } from '../../base/async/maybe-promise.ts'
import type { ApiRequest } from '../request/request.ts'
import type { RequestSeat } from '../request/request-seat.ts'
import { defineFilter } from './filter.ts'
import type { TakeSeat } from './policies.ts'

export const fairnessFilter = defineFilter({
  name: 'fairness',
  records: 'fairness',
  handle: (request, next, { takeSeat }) =>
    thenMaybe(takeSeat(request), (leave) => {
      const seat = new ReturnableSeat(request, leave, takeSeat)
      return finallyMaybe(
        () => next({ ...request, seat }),
        () => seat.leave(),
      )
    }),
})

class ReturnableSeat implements RequestSeat {
  readonly #request: ApiRequest
  readonly #takeSeat: TakeSeat
  #leave: (() => void) | undefined

  constructor(request: ApiRequest, leave: () => void, takeSeat: TakeSeat) {
    this.#request = request
    this.#leave = leave
    this.#takeSeat = takeSeat
  }

  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  async takeAgain(): Promise<void> {
    this.#leave = await this.#takeSeat(this.#request)
  }
}
