// AutoscalerMetrics: the metrics of the horizontal pod autoscaler, under upstream's names.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../base/observability/metrics.ts'

/** 1 ms, doubled 14 times. */
const secondsBounds = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)

/** What one evaluation of an autoscaler led to. */
export interface AutoscalerOutcome {
  readonly action: 'scale_down' | 'scale_up' | 'none'
  readonly error: 'spec' | 'internal' | 'none'
}

/** What one metric of an autoscaler asked for. */
export interface MetricOutcome extends AutoscalerOutcome {
  readonly metricType: string
  readonly seconds: number
}

interface OutcomeSeries {
  readonly total: { add(amount: number): void }
  readonly seconds: { observe(value: number): void }
}

export class AutoscalerMetrics {
  readonly #total: Counter
  readonly #seconds: Histogram
  readonly #metrics: Counter
  readonly #metricSeconds: Histogram
  readonly #desired: Gauge
  readonly #count: Gauge
  /** The desired replicas by namespace and name; undefined where they could not be decided yet. */
  readonly #known = new Map<string, number | undefined>()
  /** Series by their labels, because evaluations are many and outcomes are few. */
  readonly #outcomes = new Map<string, OutcomeSeries>()

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
    this.#metrics = metrics.counter(
      named('metric_computation_total'),
      "[BETA] Number of metric computations. The label 'action' should be either 'scale_down', 'scale_up', or 'none'. Also, the label 'error' should be either 'spec', 'internal', or 'none'. The label 'metric_type' corresponds to HPA.spec.metrics[*].type",
      ['action', 'error', 'metric_type'],
    )
    this.#metricSeconds = metrics.histogram(
      named('metric_computation_duration_seconds'),
      "[BETA] The time(seconds) that the HPA controller takes to calculate one metric. The label 'action' should be either 'scale_down', 'scale_up', or 'none'. The label 'error' should be either 'spec', 'internal', or 'none'. The label 'metric_type' corresponds to HPA.spec.metrics[*].type",
      secondsBounds,
      ['action', 'error', 'metric_type'],
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
    const series = getOrInsert(this.#outcomes, `${action} ${error}`, () => ({
      total: this.#total.with({ action, error }),
      seconds: this.#seconds.with({ action, error }),
    }))
    series.total.add(1)
    series.seconds.observe(seconds)
  }

  computed({ action, error, metricType: metric_type, seconds }: MetricOutcome): void {
    const series = getOrInsert(this.#outcomes, `${action} ${error} ${metric_type}`, () => ({
      total: this.#metrics.with({ action, error, metric_type }),
      seconds: this.#metricSeconds.with({ action, error, metric_type }),
    }))
    series.total.add(1)
    series.seconds.observe(seconds)
  }

  /** An autoscaler exists. `replicas` is the number that it decided on, if it could. */
  set(namespace: string, hpa_name: string, replicas: number | undefined): void {
    const key = `${namespace}/${hpa_name}`
    const known = this.#known.get(key)
    if (replicas !== undefined && replicas === known) return
    this.#known.set(key, replicas ?? known)
    this.#count.set({}, this.#known.size)
    if (replicas !== undefined) this.#desired.set({ hpa_name, namespace }, replicas)
  }

  remove(namespace: string, hpa_name: string): void {
    this.#known.delete(`${namespace}/${hpa_name}`)
    this.#count.set({}, this.#known.size)
    this.#desired.remove({ hpa_name, namespace })
  }
}
