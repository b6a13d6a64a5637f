// A service proxy in its own process: connects over HTTPS with a kubeconfig. Its rules remain when it stops.
import { TaskGroup } from '../../base/async/task-group.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Informers } from '../../client/informer/informers.ts'
import { ConntrackProgram } from '../../machine/conntrack/conntrack-program.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import type { Listener, WireResponse } from '../../platform/http/listener.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import { registerProcessMetrics } from '../../platform/process/process-metrics.ts'
import { proxyMetrics } from '../../proxy/metrics/proxy-metrics.ts'
import { removeServiceRules, startServiceProxy, type ServiceProxy } from '../../proxy/service-proxy.ts'
import { openRemote } from '../client/remote.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export interface RunProxyOptions {
  readonly kubeconfig: string
  readonly nodeName: string
  /** The addresses of pods. */
  readonly podCidrs: readonly string[]
  readonly masqueradesAll: boolean
  /** The addresses of node ports; by default those of the Node. */
  readonly nodeAddresses?: readonly string[]
  /** Nowhere when omitted. */
  readonly healthz?: ListenAddress
  readonly metricsAt?: ListenAddress
  readonly log: Log
  /** Called when the rules were applied for the first time, with the ports that are served. */
  readonly onSynced: (ports: { readonly healthz?: number; readonly metrics?: number }) => void
}

/** How long open requests may take during the stop. */
const drainMs = 1_000

/** Runs until the signal is aborted. */
export async function runProxy(options: RunProxyOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, nodeName, podCidrs, masqueradesAll, nodeAddresses, log, onSynced } = options
  await using cleanUps = new AsyncDisposableStack()
  const remote = cleanUps.use(await openRemote(kubeconfig, signal))
  const [clock, random, registry] = [realClock, systemRandom, new Metrics()]
  registerProcessMetrics(registry, cleanUps.use(nodePlatform.processStats.start()))
  const flow = new FlowRecorder(clock)
  const nftables = cleanUps.use(new NftProgram({ processes: nodeProcesses, clock }))
  const tasks = new TaskGroup({ signal })
  const proxy = startServiceProxy(
    {
      informers: new Informers(remote.clientAs('proxy'), { clock, random, log }, tasks),
      conntrack: new ConntrackProgram(nodeProcesses),
      kernelSettings: nodeKernelSettings(),
      listeners: nodePlatform.listeners,
      healthCheckHost: '0.0.0.0',
      metrics: proxyMetrics(registry),
      ...{ nftables, clock, log, flow, nodeName, podCidrs, masqueradesAll },
      ...(nodeAddresses === undefined ? {} : { nodeAddresses }),
    },
    tasks,
  )
  const listeners = await listen(options, proxy, registry)
  for (const listener of Object.values(listeners)) cleanUps.defer(() => listener.close(drainMs))
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  void proxy.synced.then(() =>
    onSynced(Object.fromEntries(Object.entries(listeners).map(([name, { port }]) => [name, port]))),
  )
  await tasks.join()
}

const text = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

async function listen(
  { healthz, metricsAt }: RunProxyOptions,
  proxy: ServiceProxy,
  registry: Metrics,
): Promise<{ readonly healthz?: Listener; readonly metrics?: Listener }> {
  const open = (at: ListenAddress, handle: (target: string) => WireResponse) =>
    nodePlatform.listeners.listen({ ...at, handle: ({ target }) => handle(target.split('?', 1)[0] ?? '') })
  return {
    ...(healthz === undefined ? {} : { healthz: await open(healthz, (target) => proxy.health.handle({ target })) }),
    ...(metricsAt === undefined ? {} : { metrics: await open(metricsAt, (path) => componentResponse(path, registry)) }),
  }
}

/** As upstream, without authentication, for which reason the default address is 127.0.0.1. */
function componentResponse(path: string, registry: Metrics): WireResponse {
  if (path === '/metrics') return text(200, registry.text())
  if (path === '/healthz') return text(200, 'ok')
  if (path === '/proxyMode') return text(200, 'nftables')
  return text(404, '404 page not found\n')
}

/** Removes the rules of a proxy that no longer runs. */
export async function removeProxyRules(): Promise<void> {
  await using nftables = new NftProgram({ processes: nodeProcesses, clock: realClock })
  await removeServiceRules(nftables)
}
