// StopProgress: reports what a slow stop is waiting for.
import type { Clock } from '../../base/time/clock.ts'

/** Interval of the reports; a faster stop reports nothing. */
const reportEveryMs = 2_000

export type StopReport = (waitingFor: string, seconds: number) => void

export class StopProgress {
  readonly #clock: Clock
  #step: string | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Wraps a function: while it runs, it is the current step of the stop. */
  step(name: string, run: () => Promise<unknown> | undefined): () => Promise<void> {
    return async () => {
      this.#step = name
      await run()
    }
  }

  /** Runs the stop and reports its progress. */
  async during(stop: () => Promise<void>, report: StopReport): Promise<void> {
    const begunMs = this.#clock.monotonicMs()
    const ended = new AbortController()
    const reporting = this.#report(begunMs, report, ended.signal)
    try {
      await stop()
    } finally {
      ended.abort()
      await reporting
    }
  }

  async #report(begunMs: number, report: StopReport, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(reportEveryMs, signal).catch(() => undefined)
      if (signal.aborted) return
      if (this.#step !== undefined) report(this.#step, (this.#clock.monotonicMs() - begunMs) / 1000)
    }
  }
}
