// StopProgress: what a stop is waiting for. A stop that takes longer than a moment reports the step that it is in.
import type { Clock } from '../../base/time/clock.ts'

/** A stop that takes less says nothing; after that each further one of these is reported. */
const reportEveryMs = 2_000

export type StopReport = (waitingFor: string, seconds: number) => void

export class StopProgress {
  readonly #clock: Clock
  #step: string | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The same function; while it runs, it is the step that the stop waits for. */
  step(name: string, run: () => Promise<unknown> | undefined): () => Promise<void> {
    return async () => {
      this.#step = name
      await run()
    }
  }

  /** Runs the whole stop and reports while it takes long. */
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
