// Metrics of the ingress proxy.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'
import { RemovedSeries } from '../../base/observability/removed-series.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Informer } from '../../client/informer/informer.ts'

export interface IngressMetrics {
  /** By route and status code. */
  readonly requests: Counter
  readonly durations: Histogram
  readonly retries: Counter
  /** Connections of TLS that are not terminated, by route and result. */
  readonly connections: Counter
  /** Objects that could not be compiled, by kind. */
  readonly unservable: Counter
  /** Of Ingresses and routes that were deleted. */
  readonly removedRoutes: RemovedSeries
}

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function ingressMetrics(metrics: Metrics): IngressMetrics {
  const removedRoutes = new RemovedSeries(metrics, ['route'])
  metrics.beforeText(() => removedRoutes.removeSeries())
  return { ...routeMetrics(metrics), removedRoutes }
}

/** Follows the objects that have routes, so that the series of deleted ones are removed. `kind` is the one in the names of routes. */
export const followRoutes = <T extends ApiObject>(
  { removedRoutes }: Pick<IngressMetrics, 'removedRoutes'>,
  kind: 'grpcroute' | 'httproute' | 'ingress' | 'tlsroute',
  objects: Pick<Informer<T>, 'onChange'>,
): void => objects.onChange(({ key, now }) => removedRoutes[now === undefined ? 'removed' : 'added'](`${kind}/${key}`))

const routeMetrics = (metrics: Metrics): Omit<IngressMetrics, 'removedRoutes'> => ({
  requests: metrics.counter('coxswain_ingress_requests_total', 'Requests by route and status code.', ['route', 'code']),
  durations: metrics.histogram(
    'coxswain_ingress_request_duration_seconds',
    'Time from the head of a request to the head of its response.',
    durationBounds,
    ['route'],
  ),
  retries: metrics.counter('coxswain_ingress_retries_total', 'Requests sent to another endpoint.', ['route']),
  connections: metrics.counter(
    'coxswain_ingress_connections_total',
    'Connections of TLS that are forwarded without being terminated, by route and result.',
    ['route', 'result'],
  ),
  unservable: metrics.counter(
    'coxswain_ingress_unservable_objects_total',
    'Attempts to serve an Ingress, Gateway or route that failed for a reason of the object.',
    ['kind'],
  ),
})
