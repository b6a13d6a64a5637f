// FilterMetrics: how long requests spend in each filter, under upstream's name. A request that a filter rejects is not counted.
import type { HistogramSeries, Metrics } from '../../base/observability/metrics.ts'
import type { FilterTimes } from '../request/request.ts'

const secondsBounds = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30]

/** Upstream's names of the filters. */
const labels = {
  audit: 'audit',
  authentication: 'authentication',
  authorization: 'authorization',
  fairness: 'priorityandfairness',
  impersonation: 'constrainedimpersonation',
} as const

export type FilterName = keyof typeof labels

export class FilterMetrics {
  readonly #series: Readonly<Record<FilterName, HistogramSeries>>

  constructor(metrics: Metrics) {
    const histogram = metrics.histogram(
      'apiserver_request_filter_duration_seconds',
      '[ALPHA] Request filter latency distribution in seconds, for each filter type',
      secondsBounds,
      ['filter'],
    )
    const seriesOf = (name: FilterName) => histogram.with({ filter: labels[name] })
    this.#series = {
      audit: seriesOf('audit'),
      authentication: seriesOf('authentication'),
      authorization: seriesOf('authorization'),
      fairness: seriesOf('fairness'),
      impersonation: seriesOf('impersonation'),
    }
  }

  /** A request has passed the filter, and the filters before it at `times.passedMs`. */
  passed(filter: FilterName, times: FilterTimes, nowMs: number): void {
    this.#series[filter].observe((nowMs - times.passedMs) / 1000)
    times.passedMs = nowMs
  }
}
