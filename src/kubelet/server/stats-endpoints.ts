// /stats/summary and /metrics of the kubelet.
import { negotiateExposition, type MetricFamily } from '../../base/observability/exposition.ts'
import type { WireRequest, WireResponse } from '../../platform/http/listener.ts'
import { cadvisorMetrics, kubeletMetrics, resourceMetrics } from '../stats/metrics-text.ts'
import { KubeletHttpError, type KubeletHost } from './kubelet-host.ts'

export async function statsEndpoint(
  { stats, terminatedContainers, probeMetrics }: KubeletHost,
  path: readonly string[],
  query: URLSearchParams,
  { headers, signal }: Pick<WireRequest, 'headers' | 'signal'>,
): Promise<WireResponse> {
  const measured = () => {
    if (stats === undefined) throw new KubeletHttpError(501, 'statistics are not available on this node')
    return stats
  }
  const format = negotiateExposition(headers['accept'] ?? '')
  const metrics = (families: Iterable<MetricFamily>) => ok(format.contentType, format.write(families))
  switch (path.join('/')) {
    case 'stats/summary': {
      const hasAll = query.get('only_cpu_and_memory') !== 'true'
      const summary = hasAll ? measured().summary(signal) : measured().cpuAndMemory(signal)
      return ok('application/json', JSON.stringify(await summary))
    }
    case 'metrics':
      return metrics(kubeletMetrics(await measured().summary(signal), terminatedContainers?.()))
    case 'metrics/resource':
      return metrics(resourceMetrics(await measured().summary(signal)))
    case 'metrics/cadvisor':
      return metrics(cadvisorMetrics(await measured().summary(signal), measured().machine))
    case 'metrics/probes':
      return ok(format.contentType, probeMetrics?.(format) ?? format.write([]))
    default:
      throw new KubeletHttpError(404, '404 page not found\n')
  }
}

const ok = (type: string, body: string): WireResponse => ({ status: 200, headers: { 'content-type': type }, body })
