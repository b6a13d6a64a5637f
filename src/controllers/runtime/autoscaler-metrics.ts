// AutoscalerMetrics: the metrics of the horizontal pod autoscaler, under upstream's names.
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'

/** 1 ms, doubled 14 times. */
const secondsBounds = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)

/** What one evaluation of an autoscaler led to. */
export interface AutoscalerOutcome {
  readonly action: 'scale_down' | 'scale_up' | 'none'
  readonly error: 'spec' | 'internal' | 'none'
}

export class AutoscalerMetrics {
  readonly #total: Counter
  readonly #seconds: Histogram
  readonly #desired: Gauge
  readonly #count: Gauge
  readonly #known = new Set<string>()

  constructor(metrics: Metrics) {
    const named = (name: string) => `horizontal_pod_autoscaler_controller_${name}`
    this.#total = metrics.counter(
      named('reconciliations_total'),
      "[BETA] Number of reconciliations of HPA controller. The label 'action' should be either 'scale_down', 'scale_up', or 'none'. Also, the label 'error' should be either 'spec', 'internal', or 'none'.",
      ['action', 'error'],
    )
    this.#seconds = metrics.histogram(
      named('reconciliation_duration_seconds'),
      "[BETA] The time(seconds) that the HPA controller takes to reconcile once. The label 'action' should be either 'scale_down', 'scale_up', or 'none'. Also, the label 'error' should be either 'spec', 'internal', or 'none'.",
      secondsBounds,
      ['action', 'error'],
    )
    this.#desired = metrics.gauge(named('desired_replicas'), '[ALPHA] Current desired replica count for HPA objects.', [
      'hpa_name',
      'namespace',
    ])
    this.#count = metrics.gauge(
      named('num_horizontal_pod_autoscalers'),
      '[ALPHA] Current number of controlled HPA objects.',
    )
  }

  evaluated({ action, error }: AutoscalerOutcome, seconds: number): void {
    this.#total.add({ action, error })
    this.#seconds.observe({ action, error }, seconds)
  }

  /** An autoscaler exists. `replicas` is the number that it decided on, if it could. */
  set(namespace: string, hpa_name: string, replicas: number | undefined): void {
    this.#known.add(`${namespace}/${hpa_name}`)
    this.#count.set({}, this.#known.size)
    if (replicas !== undefined) this.#desired.set({ hpa_name, namespace }, replicas)
  }

  remove(namespace: string, hpa_name: string): void {
    this.#known.delete(`${namespace}/${hpa_name}`)
    this.#count.set({}, this.#known.size)
    this.#desired.remove({ hpa_name, namespace })
  }
}
