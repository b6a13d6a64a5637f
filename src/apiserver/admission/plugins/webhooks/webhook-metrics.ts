// WebhookMetrics: durations and outcomes of webhook calls, with upstream's metric names.
import type { Metrics } from '../../../../base/observability/metrics.ts'

const secondsBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
const labelNames = ['name', 'type', 'operation']
/** As upstream, larger codes are counted as this one. */
const codeMax = 600

/** The outcome of a call. */
export type WebhookOutcome =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly code: number }
  | { readonly kind: 'failed'; readonly isIgnored: boolean }

export class WebhookMetrics {
  readonly #seconds
  readonly #requests
  readonly #rejections
  readonly #failedOpen

  constructor(metrics: Metrics) {
    const about = (name: string) => `apiserver_admission_webhook_${name}`
    this.#seconds = metrics.histogram(
      about('admission_duration_seconds'),
      '[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and type.',
      secondsBounds,
      [...labelNames, 'rejected'],
    )
    this.#requests = metrics.counter(
      about('request_total'),
      '[ALPHA] Admission webhook request total, identified by name and broken out for each type, code and operation.',
      [...labelNames, 'code', 'rejected'],
    )
    this.#rejections = metrics.counter(
      about('rejection_count'),
      '[ALPHA] Admission webhook rejection count, identified by name and broken out for each type and operation.',
      [...labelNames, 'error_type', 'rejection_code'],
    )
    this.#failedOpen = metrics.counter(
      about('fail_open_count'),
      '[ALPHA] Admission webhook fail open count, identified by name and broken out for each type.',
      ['name', 'type'],
    )
  }

  observe(name: string, mutates: boolean, operation: string, seconds: number, outcome: WebhookOutcome): void {
    const labels = { name, type: mutates ? 'admit' : 'validating', operation: operation.toUpperCase() }
    const code = outcome.kind === 'denied' ? Math.min(outcome.code, codeMax) : outcome.kind === 'failed' ? 500 : 200
    const rejected = String(outcome.kind === 'denied' || (outcome.kind === 'failed' && !outcome.isIgnored))
    this.#seconds.observe({ ...labels, rejected }, seconds)
    this.#requests.add({ ...labels, code: String(code), rejected })
    if (outcome.kind === 'failed' && outcome.isIgnored) this.#failedOpen.add({ name, type: labels.type })
    if (rejected === 'false') return
    const error_type = outcome.kind === 'denied' ? 'no_error' : 'calling_webhook_error'
    this.#rejections.add({ ...labels, error_type, rejection_code: String(outcome.kind === 'denied' ? code : 0) })
  }
}
