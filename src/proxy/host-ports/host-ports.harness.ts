// Pods with host ports, and an agent on simulated drivers.
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { parseCidrs } from '../../base/net/cidr.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Informers } from '../../client/informer/informers.ts'
import { SimulatedConntrack } from '../../machine/conntrack/simulated-conntrack.ts'
import type { ListeningSocket } from '../../machine/listening-ports/listening-ports.ts'
import { SimulatedNftables } from '../../machine/nftables/simulated-nftables.ts'
import { proxyMetrics } from '../metrics/proxy-metrics.ts'
import { ScriptedSource } from '../routing/routing.harness.ts'
import { startHostPorts, type HostPortAgentDeps } from './host-port-agent.ts'
import { probeCommands } from './host-port-table.ts'

export interface PodWith {
  readonly name?: string
  readonly ports?: readonly object[]
  readonly addresses?: readonly string[]
  readonly spec?: object
  readonly phase?: string
  readonly createdSecond?: number
}

/** A pod on node-a whose only container has these ports. */
export function podWith({ name = 'web', ports = [], addresses = ['10.244.0.2'], ...more }: PodWith): Pod {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      creationTimestamp: `2026-01-01T00:00:0${more.createdSecond ?? 0}Z`,
    },
    spec: { nodeName: 'node-a', containers: [{ name: 'main', ports }], ...more.spec },
    status: { phase: more.phase ?? 'Running', podIPs: addresses.map((ip) => ({ ip })) },
  } as unknown as Pod
}

export const portWithHostPort = (hostPort: number, more: object = {}): object => ({
  containerPort: 8080,
  hostPort,
  protocol: 'TCP',
  ...more,
})

export const informersOf = (pods: ScriptedSource<Pod>): Pick<Informers, 'of'> =>
  ({ of: (kind: unknown) => (kind === pod ? pods : undefined) }) as unknown as Pick<Informers, 'of'>

export function simulatedHostPorts(more: Partial<HostPortAgentDeps> = {}) {
  const pods = new ScriptedSource<Pod>()
  const clock = new VirtualClock()
  const nftables = new SimulatedNftables()
  const conntrack = new SimulatedConntrack()
  const tasks = new TaskGroup()
  const intact = { kind: 'failed', messages: probeCommands.map(() => 'Device or resource busy') } as const
  nftables.respond = (commands) => (commands === probeCommands ? intact : { kind: 'applied' })
  const flow = new FlowRecorder(clock)
  const sockets: ListeningSocket[] = []
  const events: string[] = []
  const registry: Metrics = new Metrics()
  const agent = startHostPorts(
    {
      informers: informersOf(pods),
      nftables,
      conntrack,
      clock,
      flow,
      log: silentLog,
      nodeName: 'node-a',
      podRanges: parseCidrs(['10.244.0.0/24', 'fd01::/64']),
      listeningPorts: { read: () => Promise.resolve([...sockets]) },
      metrics: proxyMetrics(registry),
      events: {
        hostPortIgnored: ({ metadata }, reason, message) => void events.push(`${metadata.name} ${reason}: ${message}`),
      },
      ...more,
    },
    tasks,
  )
  const ignored = () => /^coxswain_host_ports_ignored (\d+)$/m.exec(registry.text())?.[1]
  return { pods, clock, nftables, conntrack, flow, tasks, agent, sockets, events, ignored }
}
