// HealthCheckMetrics: the results of health checks for `/metrics/slis`, under upstream's names.
import { Metrics } from './metrics.ts'

export class HealthCheckMetrics {
  readonly metrics = new Metrics()
  readonly #last = this.metrics.gauge(
    'kubernetes_healthcheck',
    '[STABLE] This metric records the result of a single healthcheck.',
    ['name', 'type'],
  )
  readonly #total = this.metrics.counter(
    'kubernetes_healthchecks_total',
    '[STABLE] This metric records the results of all healthcheck.',
    ['name', 'status', 'type'],
  )

  /** `type` is the path of the check without its slash: `readyz`. */
  record(name: string, type: string, passed: boolean): void {
    this.#last.set({ name, type }, passed ? 1 : 0)
    this.#total.add({ name, status: passed ? 'success' : 'error', type })
  }
}
