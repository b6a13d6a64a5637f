// The fairness filter: a request takes a seat of its priority level, or waits for one. While its client is still sending
// the body it has no seat, so slow clients do not keep others waiting.
import { finallyMaybe, thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import type { ApiRequest, UnparsedBody } from '../request/request.ts'
import { defineFilter } from './filter.ts'
import type { TakeSeat } from './policies.ts'

export const fairnessFilter = defineFilter({
  name: 'fairness',
  records: 'fairness',
  handle: (request, next, { takeSeat }) =>
    thenMaybe(takeSeat(request), (leave) => {
      if (request.readBody === undefined) return finallyMaybe(() => next(request), leave)
      const seat = new Seat(request, leave, takeSeat)
      return finallyMaybe(
        () => next({ ...request, readBody: () => seat.read() }),
        () => seat.leave(),
      )
    }),
})

/** The seat of a request with a body. */
class Seat {
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

  /** Most bodies arrive together with the head and are read synchronously. For others the seat is released meanwhile. */
  read(): MaybePromise<UnparsedBody> {
    const body = this.#request.readBody?.() as MaybePromise<UnparsedBody>
    return body instanceof Promise ? this.#readReleased(body) : body
  }

  async #readReleased(body: Promise<UnparsedBody>): Promise<UnparsedBody> {
    this.leave()
    const received = await body
    this.#leave = await this.#takeSeat(this.#request)
    return received
  }
}
