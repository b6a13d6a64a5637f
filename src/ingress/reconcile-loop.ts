// ReconcileLoop: calls a function after changes. Changes that arrive in one turn of the event loop are handled together,
// and a failure is tried again after a while, or with the next change: an object that fails does not delay others.
import { eventLoopTurn } from '../base/async/event-loop-turn.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import { mergeCauses, type Cause } from '../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../base/observability/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { backoffMs, type Backoff } from '../base/work/work-queue.ts'

const retryBackoff: Backoff = { initialMs: 500, maxMs: 30_000 }

export interface ReconcileLoopDeps {
  readonly clock: Clock
  readonly log: Log
  /** What the log says about a failure. */
  readonly failureMessage: string
}

export class ReconcileLoop {
  readonly #deps: ReconcileLoopDeps
  readonly #synced = Promise.withResolvers<void>()
  #wake = Promise.withResolvers<void>()
  #causes: Cause[] = []

  constructor(deps: ReconcileLoopDeps) {
    this.#deps = deps
  }

  /** Resolves after the first success. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  changed(cause?: Cause): void {
    if (cause !== undefined) this.#causes.push(cause)
    this.#wake.resolve()
  }

  async run(reconcile: (cause: Cause) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log, failureMessage } = this.#deps
    let failures = 0
    while (!signal.aborted) {
      const cause = mergeCauses(this.#causes.splice(0))
      this.#wake = Promise.withResolvers()
      try {
        await reconcile(cause)
        this.#synced.resolve()
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        // The next attempt has the causes of this one.
        this.#causes.unshift(cause)
        log.warn(failureMessage, { error: errorText(error) })
        await this.#retryTime(backoffMs(retryBackoff, failures++), signal)
        continue
      }
      await unlessAborted(this.#wake.promise, signal).catch(() => {})
      // Other changes of the same turn are applied together with this one.
      await clock.outside(eventLoopTurn())
    }
  }

  async #retryTime(delayMs: number, signal: AbortSignal): Promise<void> {
    const due = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(delayMs, due.resolve)
    await unlessAborted(Promise.race([due.promise, this.#wake.promise]), signal).catch(() => {})
    timer.cancel()
    await this.#deps.clock.outside(eventLoopTurn())
  }
}
