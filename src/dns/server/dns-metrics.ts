// Metrics of the DNS server, with the names and labels of CoreDNS, so that existing dashboards show them.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { joinHostPort } from '../../base/net/host-port.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { ForwarderMetrics } from '../forwarder/forwarder.ts'
import { responseCodeName } from '../message/header.ts'
import { recordType } from '../message/record.ts'

const transports = ['udp', 'tcp'] as const
export type Transport = (typeof transports)[number]

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
  const shared = { server: `dns://:${port}`, view: '' }
  const panics = metrics.counter('coredns_panics_total', 'A metrics that counts the number of panics.')
  return {
    served: servedCounter(metrics, domain, shared),
    failed: () => panics.add({}),
    ...forwarderMetrics(metrics, shared),
  }
}

interface SharedLabels {
  readonly server: string
  readonly view: string
}

/** Looking up a series by its labels costs more than a response, so the series of all combinations are kept. */
function servedCounter(metrics: Metrics, domain: string, shared: SharedLabels): DnsMetrics['served'] {
  const counterOf = queryCounters(metrics, shared)
  const observers = observersOf(metrics, shared, ['.', `${domain}.`])
  const counters = new Map<number, () => void>()
  return (query) => {
    const { transport, isIpV6, type, isInZone, code } = query
    const zoneBit = Number(isInZone)
    const transportBit = Number(transport === 'tcp')
    const knownType = type !== undefined && typeNames.has(type) ? type : 0
    const key = (knownType << 11) | (code << 3) | (Number(isIpV6) << 2) | (zoneBit << 1) | transportBit
    getOrInsert(counters, key, () => counterOf(query, isInZone ? `${domain}.` : '.'))()
    const observed = observers[zoneBit]
    observed?.duration.observe(query.durationMs / 1000)
    observed?.requestSizes[transportBit]?.observe(query.queryBytes)
    observed?.responseSizes[transportBit]?.observe(query.responseBytes)
  }
}

function queryCounters(metrics: Metrics, shared: SharedLabels): (query: ServedQuery, zone: string) => () => void {
  const requests = metrics.counter(
    'coredns_dns_requests_total',
    'Counter of DNS requests made per zone, protocol and family.',
    ['server', 'zone', 'view', 'proto', 'family', 'type'],
  )
  const responses = metrics.counter('coredns_dns_responses_total', 'Counter of response status codes.', [
    'server',
    'zone',
    'view',
    'rcode',
    'plugin',
  ])
  return ({ transport, isIpV6, type, isInZone, code }, zone) => {
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
}

/** For each zone the duration, and the sizes over UDP and TCP. */
function observersOf(metrics: Metrics, shared: SharedLabels, zones: readonly string[]) {
  const durations = metrics.histogram(
    'coredns_dns_request_duration_seconds',
    'Histogram of the time (in seconds) each request took.',
    durationBounds,
    ['server', 'zone', 'view'],
  )
  const [requestSizes, responseSizes] = (
    [
      ['coredns_dns_request_size_bytes', 'Size of the request in bytes.'],
      ['coredns_dns_response_size_bytes', 'Size of the returned response in bytes.'],
    ] as const
  ).map(([name, help]) => {
    const sizes = metrics.histogram(name, help, sizeBounds, ['server', 'zone', 'view', 'proto'])
    return (zone: string) => transports.map((proto) => sizes.with({ ...shared, zone, proto }))
  })
  return zones.map((zone) => ({
    duration: durations.with({ ...shared, zone }),
    requestSizes: requestSizes?.(zone) ?? [],
    responseSizes: responseSizes?.(zone) ?? [],
  }))
}

function forwarderMetrics(metrics: Metrics, shared: SharedLabels): ForwarderMetrics {
  const labels = ['server', 'zones', 'view']
  const cached = { ...shared, zones: '.' }
  const requests = metrics.counter('coredns_cache_requests_total', 'The count of cache requests.', labels)
  const hits = metrics.counter('coredns_cache_hits_total', 'The count of cache hits.', ['type', ...labels])
  const misses = metrics.counter('coredns_cache_misses_total', 'The count of cache misses.', labels)
  const rejects = metrics.counter(
    'coredns_forward_max_concurrent_rejects_total',
    'Counter of the number of queries rejected because the concurrent queries were at maximum.',
  )
  const durations = metrics.histogram(
    'coredns_proxy_request_duration_seconds',
    'Histogram of the time each upstream request took.',
    durationBounds,
    ['proxy_name', 'to', 'rcode'],
  )
  return {
    cacheHit(isDenial) {
      requests.add(cached)
      hits.add({ ...cached, type: isDenial ? 'denial' : 'success' })
    },
    cacheMiss() {
      requests.add(cached)
      misses.add(cached)
    },
    rejected: () => rejects.add({}),
    upstreamResponded({ address, port }, code, durationMs) {
      durations.observe(
        { proxy_name: 'forward', to: joinHostPort(address, port), rcode: nameOfCode(code) },
        durationMs / 1000,
      )
    },
  }
}
