// The DNS server of a cluster in one process, and the Service through which pods reach it.
import { readFileSync } from 'node:fs'
import type { Cidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { dnsPort, upstreamServersOf } from '../../dns/forwarder/upstream-servers.ts'
import type { DnsMetrics } from '../../dns/server/dns-metrics.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import type { Sockets } from '../../platform/sockets/sockets.ts'
import { bindDns, publishDnsService } from '../bootstrap/dns-service.ts'
import { dnsUser } from '../client/component-users.ts'
import { startDns } from './start-dns.ts'

export interface ClusterDnsDeps {
  readonly client: Client
  /** May create the Service and the role. */
  readonly publisher: Client
  readonly serviceRange: Cidr
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

interface StartedDnsDeps extends ClusterDnsDeps {
  /** The addresses of this machine in the pod network. */
  readonly gateways: readonly string[]
  readonly settings: KubeletSettings['dns']
  readonly metrics: DnsMetrics
  readonly sockets: Sockets
}

/** Resolves when pods can reach it. */
export async function startClusterDns(deps: StartedDnsDeps, tasks: TaskGroup): Promise<void> {
  const { client, publisher, gateways, serviceRange, settings, clock, random, log, metrics, sockets } = deps
  const ctx = context(tasks.signal)
  await bindDns(publisher, dnsUser.name, ctx)
  const options = {
    ...{ clock, random, log, metrics, sockets, domain: settings.domain },
    informers: new Informers(client, { clock, random, log }, tasks),
    upstreamServers: upstreamServersOf(textOf(settings.resolvConfPath), gateways),
  }
  const listen = (port: number) =>
    startDns({ ...options, listen: gateways.map((address) => ({ address, port })) }, tasks)
  // Another DNS server may listen on all addresses of this machine. Pods use the port of the Service in any case.
  const { addresses } = await listen(dnsPort).catch((error: unknown) => {
    log.warn('the DNS server uses another port', { port: dnsPort, error: errorText(error) })
    return listen(0)
  })
  const [first] = addresses
  if (first === undefined) throw new Error('the DNS server has no address')
  const isOurs = await publishDnsService(publisher, { host: first.address, port: first.port }, serviceRange, ctx)
  if (!isOurs) log.info('the Service kube-dns has a selector, so pods use another DNS server')
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
