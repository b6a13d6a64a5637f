// AwaitedBodies: requests whose clients have not sent the whole body yet. A few of a user keep their seats of priority and
// fairness, because most bodies follow their heads at once. Others have no seat meanwhile, so that slow clients do not keep
// others waiting. Their number is limited: each takes memory.
import type { RequestSeat } from './request-seat.ts'
import { tooManyRequests } from './too-many-requests.ts'

const seatedPerUserMax = 50
const seatedMax = 150
const perUserMax = 1_000
const allMax = 5_000

export class AwaitedBodies {
  readonly #counts = new Map<string, number>()
  #all = 0

  /** The body, once it has been received. Rejects with 429 if too many are awaited. */
  async receive<T>(user: string, seat: RequestSeat | undefined, body: Promise<T>): Promise<T> {
    const count = this.#counts.get(user) ?? 0
    if (count >= perUserMax || this.#all >= allMax) {
      body.catch(() => {}) // it ends with the request
      throw tooManyRequests()
    }
    const isSeated = seat === undefined || (count < seatedPerUserMax && this.#all < seatedMax)
    if (!isSeated) seat.leave()
    this.#counts.set(user, count + 1)
    this.#all++
    const received = await body.finally(() => this.#leave(user))
    if (!isSeated) await seat.takeAgain()
    return received
  }

  #leave(user: string): void {
    this.#all--
    const left = (this.#counts.get(user) ?? 0) - 1
    if (left > 0) this.#counts.set(user, left)
    else this.#counts.delete(user)
  }
}
