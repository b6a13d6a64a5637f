// A service proxy on simulated drivers, whose objects a test changes.
import { node, type Node } from '../api/core/v1/node/node.ts'
import { service, type Service } from '../api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import { serviceCidr, type ServiceCIDR } from '../api/networking/v1/service-cidr.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import type { Informers } from '../client/informer/informers.ts'
import { SimulatedConntrack } from '../machine/conntrack/simulated-conntrack.ts'
import { SimulatedKernelSettings } from '../machine/kernel-settings/simulated-kernel-settings.ts'
import { SimulatedNftables } from '../machine/nftables/simulated-nftables.ts'
import type { ListenOptions } from '../platform/http/listener.ts'
import { probeCommands } from './nftables/table-layout.ts'
import { proxyMetrics } from './metrics/proxy-metrics.ts'
import { proxyEvents } from './proxy-events.ts'
import { ScriptedSource } from './routing/routing.harness.ts'
import { startServiceProxy, type ServiceProxyDeps } from './service-proxy.ts'

/** The result of a probe as long as the table is complete. */
export const intact = { kind: 'failed', messages: probeCommands.map(() => 'Device or resource busy') } as const

export function simulatedProxy(more: Partial<ServiceProxyDeps> = {}) {
  const sources = {
    services: new ScriptedSource<Service>(),
    slices: new ScriptedSource<EndpointSlice>(),
    nodes: new ScriptedSource<Node>(),
    cidrs: new ScriptedSource<ServiceCIDR>(),
  }
  const byKind = new Map<unknown, unknown>([
    [service, sources.services],
    [endpointSlice, sources.slices],
    [node, sources.nodes],
    [serviceCidr, sources.cidrs],
  ])
  const clock = new VirtualClock()
  const nftables = new SimulatedNftables()
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  const listening = new Map<number, ListenOptions>()
  const listeners: ServiceProxyDeps['listeners'] = {
    listen(options) {
      listening.set(options.port, options)
      const close = () => Promise.resolve(void listening.delete(options.port))
      return Promise.resolve({ host: options.host, port: options.port, renew: () => Promise.resolve(), close })
    },
  }
  const conntrack = new SimulatedConntrack()
  const registry = new Metrics()
  const flow = new FlowRecorder(clock)
  const kernelSettings = new SimulatedKernelSettings({ 'net/ipv4/conf/cni0/route_localnet': '0' })
  /** Events, as text. */
  const recorded: string[] = []
  const tasks = new TaskGroup()
  const proxy = startServiceProxy(
    {
      informers: { of: (kind: unknown) => byKind.get(kind) } as unknown as Pick<Informers, 'of'>,
      kernelSettings,
      nftables,
      conntrack,
      listeners,
      clock,
      flow,
      log: silentLog,
      metrics: proxyMetrics(registry),
      events: proxyEvents(
        {
          record: (object, { message, ...note }) =>
            void recorded.push(`${note.reason} ${object.metadata.name}: ${message}`),
        },
        'node-a',
      ),
      nodeName: 'node-a',
      healthCheckHost: '127.0.0.1',
      podCidrs: ['10.244.0.0/16'],
      masqueradesAll: false,
      ...more,
    },
    tasks,
  )
  return { ...sources, clock, nftables, conntrack, kernelSettings, registry, flow, listening, recorded, tasks, proxy }
}
