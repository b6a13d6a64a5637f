// Metrics of the ingress proxy.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'

export interface IngressMetrics {
  /** By route and status code. */
  readonly requests: Counter
  readonly durations: Histogram
  readonly retries: Counter
  /** Objects that could not be compiled, by kind. */
  readonly unservable: Counter
}

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export const ingressMetrics = (metrics: Metrics): IngressMetrics => ({
  requests: metrics.counter('coxswain_ingress_requests_total', 'Requests by route and status code.', ['route', 'code']),
  durations: metrics.histogram(
    'coxswain_ingress_request_duration_seconds',
    'Time from the head of a request to the head of its response.',
    durationBounds,
    ['route'],
  ),
  retries: metrics.counter('coxswain_ingress_retries_total', 'Requests sent to another endpoint.', ['route']),
  unservable: metrics.counter(
    'coxswain_ingress_unservable_objects_total',
    'Attempts to serve an Ingress, Gateway or route that failed for a reason of the object.',
    ['kind'],
  ),
})
