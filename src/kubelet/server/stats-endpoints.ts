// /stats/summary and /metrics of the kubelet.
import type { WireResponse } from '../../platform/http/listener.ts'
import { cadvisorMetrics, kubeletMetrics, resourceMetrics } from '../stats/metrics-text.ts'
import { cpuAndMemoryOf } from '../stats/summary.ts'
import { KubeletHttpError, type KubeletHost } from './kubelet-host.ts'

export async function statsEndpoint(
  { stats, probeMetrics }: KubeletHost,
  path: readonly string[],
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<WireResponse> {
  const text = async (
    type: string,
    body: (given: NonNullable<typeof stats>) => Promise<string>,
  ): Promise<WireResponse> => {
    if (stats === undefined) throw new KubeletHttpError(501, 'statistics are not available on this node')
    return { status: 200, headers: { 'content-type': type }, body: await body(stats) }
  }
  switch (path.join('/')) {
    case 'stats/summary':
      return text('application/json', async (given) => {
        const summary = await given.summary(signal)
        return JSON.stringify(query.get('only_cpu_and_memory') === 'true' ? cpuAndMemoryOf(summary) : summary)
      })
    case 'metrics':
      return text(metricsType, async (given) => kubeletMetrics(await given.summary(signal)))
    case 'metrics/resource':
      return text(metricsType, async (given) => resourceMetrics(await given.summary(signal)))
    case 'metrics/cadvisor':
      return text(metricsType, async (given) => cadvisorMetrics(await given.summary(signal), given.machine))
    case 'metrics/probes':
      return { status: 200, headers: { 'content-type': metricsType }, body: probeMetrics?.() ?? '' }
    default:
      throw new KubeletHttpError(404, '404 page not found\n')
  }
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'
