// ConversionMetrics: durations and outcomes of calls of conversion webhooks, with upstream's metric names.
import type { Metrics } from '../../base/observability/metrics.ts'
import type { ConversionFailure } from './conversion-review.ts'

const callSecondsBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60]
/** From a millisecond, doubled 14 times. */
const definitionSecondsBounds = Array.from({ length: 15 }, (_, power) => 2 ** power / 1000)

export interface ConversionCall {
  readonly definition: string
  readonly fromVersion: string
  readonly toVersion: string
}

export class ConversionMetrics {
  readonly #seconds
  readonly #requests
  readonly #definitionSeconds

  constructor(metrics: Metrics) {
    const labels = ['failure_type', 'result']
    this.#seconds = metrics.histogram(
      'apiserver_conversion_webhook_duration_seconds',
      'Conversion webhook request latency',
      callSecondsBounds,
      labels,
    )
    this.#requests = metrics.counter(
      'apiserver_conversion_webhook_request_total',
      'Counter for conversion webhook requests with success/failure and failure error type',
      labels,
    )
    this.#definitionSeconds = metrics.histogram(
      'apiserver_crd_conversion_webhook_duration_seconds',
      'CRD webhook conversion duration in seconds',
      definitionSecondsBounds,
      ['crd_name', 'from_version', 'succeeded', 'to_version'],
    )
  }

  observe(
    { definition, fromVersion, toVersion }: ConversionCall,
    seconds: number,
    failure: ConversionFailure | undefined,
  ): void {
    const labels = { failure_type: failure ?? '', result: failure === undefined ? 'success' : 'failure' }
    this.#seconds.observe(labels, seconds)
    this.#requests.add(labels)
    const succeeded = String(failure === undefined)
    this.#definitionSeconds.observe(
      { crd_name: definition, from_version: fromVersion, succeeded, to_version: toVersion },
      seconds,
    )
  }
}
