// RetryBackoff: how long an informer waits before its next list or watch. The delay doubles until an event arrives, and
// is jittered so that the informers that lost one server do not return to it at the same moment.
import type { Random } from '../../base/random/random.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'

export const informerBackoff: Backoff = { initialMs: 100, maxMs: 30_000 }

export class RetryBackoff {
  readonly #random: Random
  #attempts = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** The next delay: between the backoff and twice the backoff, in whole milliseconds. */
  nextMs(): number {
    return Math.round(backoffMs(informerBackoff, this.#attempts++) * (1 + this.#random.fraction()))
  }

  reset(): void {
    this.#attempts = 0
  }
}
