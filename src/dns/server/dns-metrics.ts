// Metrics of the DNS server, with the names and labels of CoreDNS, so that existing dashboards show them.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { ForwarderMetrics } from '../forwarder/forwarder.ts'
import { responseCodeName } from '../message/header.ts'
import { recordType } from '../message/record.ts'

export type Transport = 'udp' | 'tcp'

/** What is counted for each query. */
export interface ServedQuery {
  readonly transport: Transport
  readonly isIpV6: boolean
  /** Undefined if the question could not be read. */
  readonly type: number | undefined
  readonly isInZone: boolean
  readonly code: number
  readonly queryBytes: number
  readonly responseBytes: number
  readonly durationMs: number
}

export interface DnsMetrics extends ForwarderMetrics {
  served(query: ServedQuery): void
  failed(): void
}

/** From a quarter of a millisecond to eight seconds, as CoreDNS. */
const durationBounds = Array.from({ length: 16 }, (_, index) => 0.00025 * 2 ** index)
const sizeBounds = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000]

const typeNames = new Map<number, string>(Object.entries(recordType).map(([name, code]) => [code, name]))
const nameOfCode = (code: number): string => responseCodeName[code] ?? String(code)

export function dnsMetrics(metrics: Metrics, domain: string, port: number): DnsMetrics {
  const server = `dns://:${port}`
  const shared = { server, view: '' }
  const requests = metrics.counter(
    'coredns_dns_requests_total',
    'Counter of DNS requests made per zone, protocol and family.',
    [...['server', 'zone', 'view', 'proto', 'family', 'type']],
  )
  const responses = metrics.counter('coredns_dns_responses_total', 'Counter of response status codes.', [
    ...['server', 'zone', 'view', 'rcode', 'plugin'],
  ])
  const durations = metrics.histogram(
    ...['coredns_dns_request_duration_seconds', 'Histogram of the time (in seconds) each request took.'],
    ...[durationBounds, ['server', 'zone', 'view']],
  )
  const sizeLabels = ['server', 'zone', 'view', 'proto']
  const requestSizes = metrics.histogram(
    'coredns_dns_request_size_bytes',
    'Size of the request in bytes.',
    sizeBounds,
    sizeLabels,
  )
  const responseSizes = metrics.histogram(
    'coredns_dns_response_size_bytes',
    'Size of the returned response in bytes.',
    sizeBounds,
    sizeLabels,
  )
  const cacheLabels = ['server', 'zones', 'view']
  const cached = { ...shared, zones: '.' }
  const cacheRequests = metrics.counter('coredns_cache_requests_total', 'The count of cache requests.', cacheLabels)
  const cacheHits = metrics.counter('coredns_cache_hits_total', 'The count of cache hits.', ['type', ...cacheLabels])
  const cacheMisses = metrics.counter('coredns_cache_misses_total', 'The count of cache misses.', cacheLabels)
  const rejects = metrics.counter(
    'coredns_forward_max_concurrent_rejects_total',
    'Counter of the number of queries rejected because the concurrent queries were at maximum.',
  )
  const upstream = metrics.histogram(
    'coredns_proxy_request_duration_seconds',
    'Histogram of the time each upstream request took.',
    durationBounds,
    ['proxy_name', 'to', 'rcode'],
  )
  const panics = metrics.counter('coredns_panics_total', 'A metrics that counts the number of panics.')

  // Looking up a series by its labels costs more than a response, so the series of common queries are kept.
  const counted = new Map<number, () => void>()
  const observedByZone = [false, true].map((isInZone) => {
    const zone = isInZone ? `${domain}.` : '.'
    return {
      zone,
      duration: durations.with({ ...shared, zone }),
      sizes: (['udp', 'tcp'] as const).map((proto) => ({
        request: requestSizes.with({ ...shared, zone, proto }),
        response: responseSizes.with({ ...shared, zone, proto }),
      })),
    }
  })
  const countersOf = ({ transport, isIpV6, type, isInZone, code }: ServedQuery) => {
    const { zone } = observedByZone[Number(isInZone)] as (typeof observedByZone)[number]
    const family = isIpV6 ? '2' : '1'
    const typeName = typeNames.get(type ?? -1) ?? 'other'
    const request = requests.with({ ...shared, zone, proto: transport, family, type: typeName })
    const plugin = isInZone ? 'kubernetes' : 'forward'
    const response = responses.with({ ...shared, zone, rcode: nameOfCode(code), plugin })
    return () => {
      request.add(1)
      response.add(1)
    }
  }
  return {
    served(query) {
      const { transport, isIpV6, type, isInZone, code } = query
      const typeKey = type !== undefined && typeNames.has(type) ? type : 0
      const key =
        (((((typeKey << 8) | code) << 1) | Number(isIpV6)) << 2) | (Number(isInZone) << 1) | Number(transport === 'tcp')
      getOrInsert(counted, key, () => countersOf(query))()
      const observed = observedByZone[Number(isInZone)]
      observed?.duration.observe(query.durationMs / 1000)
      const sizes = observed?.sizes[Number(transport === 'tcp')]
      sizes?.request.observe(query.queryBytes)
      sizes?.response.observe(query.responseBytes)
    },
    failed: () => panics.add({}),
    cacheHit(isDenial) {
      cacheRequests.add(cached)
      cacheHits.add({ ...cached, type: isDenial ? 'denial' : 'success' })
    },
    cacheMiss() {
      cacheRequests.add(cached)
      cacheMisses.add(cached)
    },
    rejected: () => rejects.add({}),
    upstreamResponded({ address, port: upstreamPort }, code, durationMs) {
      const to = address.includes(':') ? `[${address}]:${upstreamPort}` : `${address}:${upstreamPort}`
      upstream.observe({ proxy_name: 'forward', to, rcode: nameOfCode(code) }, durationMs / 1000)
    },
  }
}
