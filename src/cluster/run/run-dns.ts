// A DNS server in its own process: connects to any API server over HTTPS with a kubeconfig.
import { networkInterfaces } from 'node:os'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Informers } from '../../client/informer/informers.ts'
import { dnsPort, upstreamServersOf } from '../../dns/forwarder/upstream-servers.ts'
import { dnsMetrics } from '../../dns/server/dns-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { registerProcessMetrics } from '../../platform/process/process-metrics.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { openRemote } from '../client/remote.ts'
import { serveComponent } from './component-server.ts'
import { startDns } from '../node/start-dns.ts'

export interface RunDnsOptions {
  readonly kubeconfig: string
  /** IP addresses on which it listens. */
  readonly hosts: readonly string[]
  /** 0 selects a free port for each address. */
  readonly port: number
  readonly domain: string
  /** The text of a resolv.conf with the upstream servers. */
  readonly resolvConf: string
  readonly log: Log
  /** Where health and metrics are served; nowhere when omitted. */
  readonly serve?: { readonly host: string; readonly port: number }
  /** Called with the port of health and metrics when it listens. */
  readonly onServe?: (port: number) => void
  /** Called when names of the cluster are served. */
  readonly onReady: (addresses: readonly Peer[]) => void
}

/** How long open requests may take during the stop. */
const drainMs = 1_000

/** Runs until the signal is aborted. */
export async function runDns(options: RunDnsOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, hosts, port, domain, resolvConf, log, serve, onServe, onReady } = options
  await using cleanUps = new AsyncDisposableStack()
  const [clock, random, metrics] = [realClock, systemRandom, new Metrics()]
  const remote = await openRemote(kubeconfig, signal, new ClientMetrics(metrics, clock))
  cleanUps.defer(() => remote.close())
  const client = remote.clientAs('dns')
  if (serve !== undefined) {
    registerProcessMetrics(metrics, cleanUps.use(nodePlatform.processStats.start()))
    const listener = await serveComponent({ ...serve, metrics, clock, client })
    cleanUps.defer(() => listener.close(drainMs))
    onServe?.(listener.port)
  }
  const tasks = cleanUps.use(new TaskGroup({ signal }))
  const { addresses, synced } = await startDns(
    {
      ...{ clock, random, log, domain, sockets: nodePlatform.sockets },
      metrics: dnsMetrics(metrics, domain, port),
      informers: new Informers(client, { clock, random, log }, tasks),
      listen: hosts.map((address) => ({ address, port })),
      upstreamServers: upstreamServersOf(resolvConf, ownAddresses(hosts, port)),
    },
    tasks,
  )
  void synced.then(() => onReady(addresses))
  await tasks.join()
}

/** Addresses at which a resolv.conf would refer to this server. It can only refer to the usual port. */
function ownAddresses(hosts: readonly string[], port: number): string[] {
  if (port !== dnsPort) return []
  if (!hosts.some((host) => host === '0.0.0.0' || host === '::')) return [...hosts]
  return Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address))
}
