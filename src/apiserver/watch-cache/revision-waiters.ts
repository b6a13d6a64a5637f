// RevisionWaiters: the reads that wait until a watch cache has reached the revision they require.
import type { Clock } from '../../base/time/clock.ts'
import { StatusError } from '../../api/errors/status-error.ts'

const freshnessMsMax = 3_000

interface Waiter {
  readonly revision: number
  readonly resolve: () => void
  readonly reject: (error: StatusError) => void
}

export class RevisionWaiters {
  readonly #clock: Clock
  #waiters: Waiter[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#waiters.length
  }

  /** Resolves when the revision is reached. A revision that does not come in time is an error of the client. */
  async wait(revision: number, current: () => number, signal: AbortSignal): Promise<void> {
    const reached = Promise.withResolvers<void>()
    const waiter = { revision, resolve: reached.resolve, reject: reached.reject }
    const timer = this.#clock.after(freshnessMsMax, () => reached.reject(revisionTooLarge(revision, current())))
    const stop = () => reached.reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    this.#waiters.push(waiter)
    try {
      await reached.promise
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', stop)
      this.#waiters = this.#waiters.filter((other) => other !== waiter)
    }
  }

  advance(revision: number): void {
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve()
  }

  reject(error: StatusError): void {
    for (const waiter of this.#waiters) waiter.reject(error)
  }
}

const revisionTooLarge = (revision: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
