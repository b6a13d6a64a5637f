// TimedRatio: how long a number was which share of its limit. As upstream, the share is observed once for every
// nanosecond, so the histogram's counts are times.
import type { HistogramSeries } from '../../base/observability/metrics.ts'

const nanosecondsPerMs = 1e6

export class TimedRatio {
  readonly #series: Pick<HistogramSeries, 'observeTimes'>
  #value = 0
  #limit = 1
  #sinceMs: number

  constructor(series: Pick<HistogramSeries, 'observeTimes'>, nowMs: number) {
    this.#series = series
    this.#sinceMs = nowMs
  }

  add(change: number, nowMs: number): void {
    this.record(nowMs)
    this.#value += change
  }

  setLimit(limit: number, nowMs: number): void {
    this.record(nowMs)
    this.#limit = Math.max(1, limit)
  }

  /** Observes the time since the last change. */
  record(nowMs: number): void {
    const times = Math.round((nowMs - this.#sinceMs) * nanosecondsPerMs)
    if (times <= 0) return
    this.#series.observeTimes(this.#value / this.#limit, times)
    this.#sinceMs = nowMs
  }
}
