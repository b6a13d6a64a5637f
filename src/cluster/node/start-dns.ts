// Starts a DNS server for a cluster: the zone, fed by informers, the forwarder and the sockets. `coxswain dns` and a
// cluster in one process use the same.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { DnsServer } from '../../dns/dns-server.ts'
import { Forwarder, forwarderLimitsDefault } from '../../dns/forwarder/forwarder.ts'
import { cacheLimitsDefault } from '../../dns/forwarder/response-cache.ts'
import { ClusterZone } from '../../dns/records/cluster-zone.ts'
import { feedZone } from '../../dns/records/zone-feed.ts'
import type { DnsMetrics } from '../../dns/server/dns-metrics.ts'
import { QueryHandler } from '../../dns/server/query-handler.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'

export interface StartDnsOptions {
  /** Of a client that may list and watch Namespaces, Services and EndpointSlices. */
  readonly informers: Pick<Informers, 'of'>
  readonly sockets: Sockets
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** See dnsMetrics(). */
  readonly metrics: DnsMetrics
  /** IP addresses of this machine, and ports; port 0 selects a free one. */
  readonly listen: readonly Peer[]
  /** `cluster.local` */
  readonly domain: string
  /** See upstreamServersOf(). Without servers, names outside of the cluster fail immediately. */
  readonly upstreamServers: readonly Peer[]
}

export interface RunningDns {
  readonly zone: ClusterZone
  /** Where it listens. */
  readonly addresses: readonly Peer[]
  /** Resolves when names of the cluster are served. */
  readonly synced: Promise<void>
}

/** How long the first lists may take before a warning. */
const syncMs = 10_000

/** Resolves when it listens. It ends with the tasks. */
export async function startDns(options: StartDnsOptions, tasks: TaskGroup): Promise<RunningDns> {
  const { informers, sockets, clock, random, log, metrics, domain, listen, upstreamServers } = options
  const zone = new ClusterZone(domain)
  const limits = { ...forwarderLimitsDefault, cache: cacheLimitsDefault }
  const forwarder = new Forwarder({ sockets, clock, random, log, metrics, limits, servers: upstreamServers }, tasks)
  let isReady = false
  const handler = new QueryHandler({ zone, forwarder, clock, random, log, metrics, isReady: () => isReady })
  const server = new DnsServer({ handler, sockets, clock })
  try {
    for (const { address, port } of listen) await server.listen(address, port)
    tasks.signal.throwIfAborted()
  } catch (error) {
    await server.close()
    throw error
  }
  // After listening, because informers would feed the zone of a failed attempt for as long as they run.
  const synced = feedZone(zone, informers, (kind, key, error) => {
    metrics.failed()
    log.error('an object has no DNS records, because it cannot be read', { kind, key, error: errorText(error) })
  })
  const timer = clock.after(syncMs, () =>
    log.warn('names of the cluster are not served yet, because Services, EndpointSlices or Namespaces were not listed'),
  )
  const ready = synced.then(() => {
    timer.cancel()
    isReady = true
    return undefined
  })
  tasks.start('DNS server', async (signal) => {
    try {
      await unlessAborted(forwarder.findLoops(signal), signal)
      await unlessAborted(new Promise<never>(() => {}), signal)
    } finally {
      timer.cancel()
      await server.close()
    }
  })
  return { zone, addresses: server.addresses, synced: ready }
}
