// The DNS server of the benchmark: a zone of 10,000 Services with 10 endpoints each, without an API server.
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { DnsServer } from '../../src/dns/dns-server.ts'
import { Forwarder, forwarderLimitsDefault } from '../../src/dns/forwarder/forwarder.ts'
import { cacheLimitsDefault } from '../../src/dns/forwarder/response-cache.ts'
import { ClusterZone } from '../../src/dns/records/cluster-zone.ts'
import { recordType } from '../../src/dns/message/record.ts'
import { namedPort, serviceOf, sliceOf } from '../../src/dns/records/zone.harness.ts'
import { dnsMetrics } from '../../src/dns/server/dns-metrics.ts'
import { QueryHandler } from '../../src/dns/server/query-handler.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { nanosecondsPer } from '../bench.ts'
import { fullName, serviceAddress, serviceName, services } from './names.ts'

/** What the server reports when it listens. */
export interface ServerReport {
  readonly port: number
  /** Heap in bytes: the objects that informers hold, and the zone beside them. */
  readonly objectsBytes: number
  readonly zoneBytes: number
  readonly residentBytes: number
  /** Of a change of one slice, followed by a lookup: in a zone of ten Services, and in this one. */
  readonly changeMicros: readonly [small: number, large: number]
}

const endpointsEach = 10

function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const emptyBytes = heapBytes()
const objects = Array.from({ length: services }, (_, index) => {
  const name = serviceName(index)
  const endpoints = Array.from({ length: endpointsEach }, (_value, number) => ({
    addresses: [`10.${(index >> 8) & 255}.${index & 255}.${number}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node-${number}`,
  }))
  const service = serviceOf(name, { clusterIP: serviceAddress(index), ports: [namedPort('http', 80)] })
  return { service, slice: sliceOf(name, endpoints) }
})
const objectsBytes = heapBytes() - emptyBytes
function zoneOf(count: number): ClusterZone {
  const filled = new ClusterZone('cluster.local')
  filled.setNamespace('default', true)
  for (const { service, slice } of objects.slice(0, count)) {
    filled.setService(undefined, service)
    filled.setEndpointSlice(undefined, slice)
  }
  return filled
}

const zone = zoneOf(services)
const zoneBytes = heapBytes() - emptyBytes - objectsBytes

/** The slices of different Services change in turn, so that caches of the processor do not decide. */
const changeMicros = (changed: ClusterZone, count: number): number =>
  nanosecondsPer(10_000, (calls) => {
    for (let call = 0; call < calls; call++) {
      const index = (call * 7_919) % count
      const slice = objects[index]?.slice
      changed.setEndpointSlice(slice, slice)
      changed.lookup(fullName(index), recordType.A)
    }
  }) / 1000

const clock = realClock
const random = systemRandom
const log = silentLog
const { sockets } = nodePlatform
const metrics = dnsMetrics(new Metrics(), 'cluster.local', 53)
const limits = { ...forwarderLimitsDefault, cache: cacheLimitsDefault }
const forwarder = new Forwarder({ sockets, clock, random, log, metrics, limits, servers: [] }, new TaskGroup())
const handler = new QueryHandler({ zone, forwarder, clock, random, log, metrics, isReady: () => true })
const { port } = await new DnsServer({ handler, sockets, clock }).listen('127.0.0.1', 0)
const report: ServerReport = {
  port,
  objectsBytes,
  zoneBytes,
  residentBytes: process.memoryUsage().rss,
  changeMicros: [changeMicros(zoneOf(10), 10), changeMicros(zone, services)],
}

process.send?.(report)
