// A service proxy in this process and in this network namespace, whose objects a test changes.
import { node, type Node } from '../../src/api/core/v1/node/node.ts'
import { service, type Service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { eventLoopTurn } from '../../src/base/async/event-loop-turn.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { realClock } from '../../src/base/time/clock.ts'
import type { Informers } from '../../src/client/informer/informers.ts'
import { ConntrackProgram } from '../../src/machine/conntrack/conntrack-program.ts'
import { nodeKernelSettings } from '../../src/machine/kernel-settings/node-kernel-settings.ts'
import { NftProgram } from '../../src/machine/nftables/nft-program.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { nodeProcesses } from '../../src/platform/node/process/processes.ts'
import { proxyMetrics } from '../../src/proxy/metrics/proxy-metrics.ts'
import { ScriptedSource } from '../../src/proxy/routing/routing.harness.ts'
import { startServiceProxy, type ServiceProxyDeps } from '../../src/proxy/service-proxy.ts'
import { until } from '../until.ts'

export const nodeAddresses = ['192.168.50.1', 'fd50::1']

export function startProxy(more: Partial<ServiceProxyDeps> = {}) {
  const services = new ScriptedSource<Service>()
  const slices = new ScriptedSource<EndpointSlice>()
  const nodes = new ScriptedSource<Node>()
  const byKind = new Map<unknown, unknown>([
    [service, services],
    [endpointSlice, slices],
    [node, nodes],
  ])
  const nftables = new NftProgram({ processes: nodeProcesses, clock: realClock })
  const registry = new Metrics()
  const tasks = new TaskGroup()
  const proxy = startServiceProxy(
    {
      informers: { of: (kind: unknown) => byKind.get(kind) } as unknown as Pick<Informers, 'of'>,
      conntrack: new ConntrackProgram(nodeProcesses),
      kernelSettings: nodeKernelSettings(),
      listeners: nodePlatform.listeners,
      events: { started: () => undefined, healthCheckFailed: () => undefined, notRouted: () => undefined },
      nftables,
      clock: realClock,
      log: silentLog,
      flow: new FlowRecorder(realClock),
      metrics: proxyMetrics(registry),
      nodeName: 'node-a',
      nodeAddresses: () => nodeAddresses,
      healthCheckHost: '0.0.0.0',
      podCidrs: ['10.244.0.0/16', 'fd01::/64'],
      serviceCidrs: ['10.96.0.0/12', 'fd96::/112'],
      masqueradesAll: false,
      ...more,
    },
    tasks,
  )
  const syncs = () =>
    Number(/^kubeproxy_sync_proxy_rules_duration_seconds_count (\d+)$/m.exec(registry.text())?.[1] ?? 0)
  return {
    services,
    slices,
    nodes,
    nftables,
    proxy,
    registry,
    /** Makes changes and waits until they are applied. */
    async change(make: () => void): Promise<void> {
      const before = syncs()
      make()
      await until(() => syncs() > before)
      await eventLoopTurn()
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await nftables[Symbol.asyncDispose]()
    },
  }
}
