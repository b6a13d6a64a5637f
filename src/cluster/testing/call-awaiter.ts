// CallAwaiter: advances virtual time during a call of a test, because a call that waits for time would otherwise never end.
import type { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Faults } from './faults.ts'

const callLimit = '1h'

export interface CallAwaiterDeps {
  readonly clock: VirtualClock
  readonly faults: Faults
  /** Time that flows is not advanced. */
  readonly isFlowing: boolean
}

export class CallAwaiter {
  readonly #deps: CallAwaiterDeps

  constructor(deps: CallAwaiterDeps) {
    this.#deps = deps
  }

  /** For requests: only a write to a slow store waits for time. */
  request<T>(request: Promise<T>, what: string): Promise<T> {
    const { commitMs } = this.#deps.faults
    if (commitMs === 0) return request
    const whyNot = () => `faults.slowStore(${commitMs}) makes each write take ${commitMs} ms; faults.heal() ends that`
    return this.untilDone(request, what, whyNot)
  }

  /** Advances time until the work is done. Rejects at the limit, with the reason that `whyNot` gives. */
  async untilDone<T>(work: Promise<T>, what: string, whyNot: () => string): Promise<T> {
    if (this.#deps.isFlowing) return work
    let isDone = false
    const done = work.finally(() => (isDone = true))
    done.catch(() => {}) // the caller gets the error; it is ignored after the limit
    if (await this.#deps.clock.runUntil(() => isDone, callLimit)) return done
    throw new Error(`${what} did not end within ${callLimit} of the cluster's time: ${whyNot()}`)
  }
}
