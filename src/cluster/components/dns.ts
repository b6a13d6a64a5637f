// The DNS server as a component. In a cluster that has no other, it publishes the Service through which pods reach it.
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Cidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { Informers } from '../../client/informer/informers.ts'
import { dnsPort, upstreamServersOf } from '../../dns/forwarder/upstream-servers.ts'
import { dnsMetrics, type DnsMetrics } from '../../dns/server/dns-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'
import { bindDns, publishDnsService } from '../bootstrap/dns-service.ts'
import { apiServerUser, dnsUser } from '../client/component-users.ts'
import { startDns, type RunningDns } from '../node/start-dns.ts'
import type { ComponentDefinition, ComponentHost } from './component-definition.ts'

export interface DnsSettings {
  /** `cluster.local` */
  readonly domain: string
  /** IP addresses on which it listens. */
  readonly hosts: readonly string[]
  /** 0 selects a free port for each address. */
  readonly port: number
  /** The text of a resolv.conf with the upstream servers, read at each start. */
  readonly resolvConf: () => string
  /** Addresses at which the resolv.conf would refer to this server. */
  readonly ownAddresses: readonly string[]
  /** Publishes the Service, with an address of this range; not when omitted. */
  readonly serviceRange?: Cidr
  /** Called when names of the cluster are served. */
  readonly onReady?: (addresses: readonly Peer[]) => void
  /** Those of this machine when omitted. */
  readonly sockets?: Sockets
}

export const dnsComponent = (settings: DnsSettings): ComponentDefinition => ({
  name: 'dns',
  user: dnsUser,
  prepare(host) {
    const metrics = dnsMetrics(host.metrics, settings.domain, settings.port)
    return { start: (tasks) => tasks.start('DNS', () => serve(settings, host, metrics, tasks)) }
  },
})

async function serve(settings: DnsSettings, host: ComponentHost, metrics: DnsMetrics, tasks: TaskGroup): Promise<void> {
  const { domain, hosts, port, resolvConf, ownAddresses, serviceRange, onReady } = settings
  const { sockets = nodePlatform.sockets } = settings
  const { clock, random, log } = host
  const ctx = context(tasks.signal)
  const publisher = host.client('apiserver', apiServerUser)
  if (serviceRange !== undefined) await bindDns(publisher, dnsUser.name, ctx)
  const options = {
    clock,
    random,
    log,
    metrics,
    sockets,
    domain,
    informers: new Informers(host.client('dns', dnsUser), { clock, random, log }, tasks),
    upstreamServers: upstreamServersOf(resolvConf(), ownAddresses),
  }
  const listen = (at: number): Promise<RunningDns> =>
    startDns({ ...options, listen: hosts.map((address) => ({ address, port: at })) }, tasks)
  if (serviceRange === undefined) {
    const { addresses, synced } = await listen(port)
    return void synced.then(() => onReady?.(addresses))
  }
  // Another DNS server may listen on all addresses of this machine. Pods use the port of the Service in any case.
  const { addresses } = await listen(port).catch((error: unknown) => {
    log.warn('the DNS server uses another port', { port: dnsPort, error: errorText(error) })
    return listen(0)
  })
  const [first] = addresses
  if (first === undefined) throw new Error('the DNS server has no address')
  const isOurs = await publishDnsService(publisher, { host: first.address, port: first.port }, serviceRange, ctx)
  if (!isOurs) log.info('the Service kube-dns has a selector, so pods use another DNS server')
}
