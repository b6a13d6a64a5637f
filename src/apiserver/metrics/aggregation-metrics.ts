// AggregationMetrics: which APIServices are not available, under upstream's names.
import type { Counter, Gauge, Metrics } from '../../base/observability/metrics.ts'

export class AggregationMetrics {
  readonly #unavailable: Gauge
  readonly #total: Counter

  constructor(metrics: Metrics) {
    this.#unavailable = metrics.gauge(
      'aggregator_unavailable_apiservice',
      '[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name.',
      ['name'],
    )
    this.#total = metrics.counter(
      'aggregator_unavailable_apiservice_total',
      '[ALPHA] Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
      ['name', 'reason'],
    )
  }

  set(name: string, isAvailable: boolean): void {
    this.#unavailable.set({ name }, isAvailable ? 0 : 1)
  }

  /** The condition has become false. */
  becameUnavailable(name: string, reason: string): void {
    this.#total.add({ name, reason })
  }

  remove(name: string): void {
    this.#unavailable.remove({ name })
  }
}
