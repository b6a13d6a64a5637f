// RatioTimes: how long a number was which share of its limit. As upstream, the share is observed once for every
// nanosecond, so the histogram's counts are times. Times are added up by number and observed when metrics are scraped.
import type { HistogramSeries } from '../../base/observability/metrics.ts'

const nanosecondsPerMs = 1e6
/** The times of larger numbers, which are rare, are observed at once. */
const summedMax = 64

export class RatioTimes {
  readonly #series: Pick<HistogramSeries, 'observeTimes'>
  /** How long each number was the value since the last scrape. */
  readonly #ms = new Float64Array(summedMax)
  #limit = 1

  constructor(series: Pick<HistogramSeries, 'observeTimes'>) {
    this.#series = series
  }

  /** The number had this value for this time. */
  add(value: number, ms: number): void {
    if (value < summedMax) this.#ms[value] = (this.#ms[value] as number) + ms
    else this.#observe(value, ms)
  }

  setLimit(limit: number): void {
    this.observe()
    this.#limit = Math.max(1, limit)
  }

  observe(): void {
    for (const [value, ms] of this.#ms.entries()) if (ms > 0) this.#observe(value, ms)
    this.#ms.fill(0)
  }

  #observe(value: number, ms: number): void {
    this.#series.observeTimes(value / this.#limit, Math.round(ms * nanosecondsPerMs))
  }
}
