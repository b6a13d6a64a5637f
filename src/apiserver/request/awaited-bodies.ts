// AwaitedBodies: requests whose clients have not sent the whole body yet. They have no seat of priority and fairness, so
// their number is limited separately: each takes memory.
import { tooManyRequests } from './too-many-requests.ts'

const perUserMax = 100
const allMax = 2_000

export class AwaitedBodies {
  readonly #counts = new Map<string, number>()
  #all = 0

  /** The body, once it has been received. Rejects with 429 if too many are awaited. */
  async receive<T>(user: string, body: Promise<T>): Promise<T> {
    const count = this.#counts.get(user) ?? 0
    if (count >= perUserMax || this.#all >= allMax) {
      body.catch(() => {}) // it ends with the request
      throw tooManyRequests()
    }
    this.#counts.set(user, count + 1)
    this.#all++
    try {
      return await body
    } finally {
      this.#all--
      const left = (this.#counts.get(user) ?? 0) - 1
      if (left > 0) this.#counts.set(user, left)
      else this.#counts.delete(user)
    }
  }
}
