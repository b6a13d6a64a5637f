// RatioTimes: a number, and how long it was which share of its limit. As upstream, the share is observed once for every
// nanosecond, so the histogram's counts are times. Times are added up by number and observed when metrics are scraped.
import type { HistogramSeries } from '../../base/observability/metrics.ts'

const nanosecondsPerMs = 1e6
/** The times of larger numbers, which are rare, are observed at once. */
const summedMax = 256

export class RatioTimes {
  readonly #series: Pick<HistogramSeries, 'observeTimes'>
  /** How long each number was the value since the last scrape. */
  readonly #ms = new Float64Array(summedMax)
  #limit = 1
  #value = 0
  #sinceMs: number

  constructor(series: Pick<HistogramSeries, 'observeTimes'>, nowMs: number) {
    this.#series = series
    this.#sinceMs = nowMs
  }

  /** Adds to the number. */
  add(amount: number, nowMs: number): void {
    const value = this.#value
    const ms = nowMs - this.#sinceMs
    if (value < summedMax) this.#ms[value] = (this.#ms[value] as number) + ms
    else this.#observe(value, ms)
    this.#value = value + amount
    this.#sinceMs = nowMs
  }

  setLimit(limit: number, nowMs: number): void {
    this.observe(nowMs)
    this.#limit = Math.max(1, limit)
  }

  observe(nowMs: number): void {
    this.add(0, nowMs)
    for (let value = 0; value < summedMax; value++) {
      const ms = this.#ms[value] as number
      if (ms > 0) this.#observe(value, ms)
    }
    this.#ms.fill(0)
  }

  #observe(value: number, ms: number): void {
    this.#series.observeTimes(value / this.#limit, Math.round(ms * nanosecondsPerMs))
  }
}
