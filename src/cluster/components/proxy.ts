// The service proxy as a component. On a node whose pods we connect, it also maintains the paths to the pods of other nodes,
// enforces network policies and maps host ports; another CNI plugin does all of that itself. The rules remain when it stops.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { Conntrack } from '../../machine/conntrack/conntrack.ts'
import { ConntrackProgram } from '../../machine/conntrack/conntrack-program.ts'
import type { KernelSettings } from '../../machine/kernel-settings/kernel-settings.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import type { ListeningPorts } from '../../machine/listening-ports/listening-ports.ts'
import { nodeListeningPorts } from '../../machine/listening-ports/node-listening-ports.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { PolicyAgent, type PolicyAgentDeps } from '../../network-policy/policy-agent.ts'
import { startPolicyReports } from '../../network-policy/policy-reports.ts'
import type { ListenerProvider } from '../../platform/http/listener.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import { startHostPorts } from '../../proxy/host-ports/host-port-agent.ts'
import { proxyMetrics, type ProxyMetrics } from '../../proxy/metrics/proxy-metrics.ts'
import { PodRoutes, podPathsAnnotation } from '../../proxy/pod-routes/pod-routes.ts'
import { startProxyEvents, type ProxyEvents } from '../../proxy/proxy-events.ts'
import { startServiceProxy, type ServiceProxyDeps } from '../../proxy/service-proxy.ts'
import { nodeUser, proxyUser } from '../client/component-users.ts'
import { bridge, interfaceRanges } from '../node/machine-network.ts'
import type { NodeNetwork } from '../node/node-network.ts'
import { listenForProxy, type ProxyAddresses, type ProxyPorts } from '../node/proxy-ports.ts'
import type { ComponentDefinition, ComponentHost } from './component-definition.ts'

export interface ProxySettings extends Pick<
  ServiceProxyDeps,
  'nodeName' | 'podCidrs' | 'serviceCidrs' | 'nodeAddresses' | 'masqueradesAll' | 'healthCheckHost' | 'avoidedServers'
> {
  /** Of the component. */
  readonly name: string
  /** kube-proxy's ports. */
  readonly ports: readonly ProxyAddresses[]
  /** A port that is in use is a warning, and otherwise the end of the proxy. */
  readonly arePortsOptional: boolean
  /** Undefined if another CNI plugin connects the nodes. */
  readonly network: OwnNetwork | undefined
  /** Network policies are enforced, too, although the network is not ours. */
  readonly enforcesPolicies: boolean
  /** Called when all rules were applied for the first time, with the ports that are served. */
  readonly onSynced?: (ports: ProxyPorts) => void
  /** This machine when omitted. */
  readonly machine?: ProxyMachine
}

export interface OwnNetwork extends NodeNetwork {
  /** The ranges from which nodes get those of their pods; empty if they are not known. */
  readonly clusterCidrs: readonly string[]
  /** Called when network policies are enforced. */
  readonly onPolicyAgent: (agent: PolicyAgent) => void
}

/** What the proxy changes. */
export interface ProxyMachine {
  /** Transactions of network policies do not wait for those of Services. They are disposed of with the proxy. */
  newNftables(of: 'services' | 'policies'): Nftables
  readonly conntrack: Conntrack
  readonly kernelSettings: KernelSettings
  readonly listeningPorts: ListeningPorts
  readonly listeners: Pick<ListenerProvider, 'listen'>
}

export interface MachinePrograms extends Pick<ProxyMachine, 'kernelSettings' | 'listeningPorts' | 'listeners'> {
  readonly processes: Pick<Processes, 'run'> & InteractivePrograms
}

/** A machine that is changed through these programs. */
export const machineWith = ({ processes, ...parts }: MachinePrograms, clock: Clock): ProxyMachine => ({
  ...parts,
  newNftables: () => new NftProgram({ processes, clock }),
  conntrack: new ConntrackProgram(processes),
})

const thisMachine = (clock: Clock): ProxyMachine => {
  const parts = { kernelSettings: nodeKernelSettings(), listeningPorts: nodeListeningPorts() }
  return machineWith({ ...parts, listeners: nodePlatform.listeners, processes: nodeProcesses }, clock)
}

export const proxyComponent = (settings: ProxySettings): ComponentDefinition => ({
  name: settings.name,
  user: proxyUser,
  prepare(host) {
    const metrics = proxyMetrics(host.metrics)
    const { machine = thisMachine(host.clock) } = settings
    return { start: (tasks) => startProxy({ settings, host, metrics, machine, tasks }) }
  },
})

interface Start {
  readonly settings: ProxySettings
  readonly host: ComponentHost
  readonly metrics: ProxyMetrics
  readonly machine: ProxyMachine
  readonly tasks: TaskGroup
}

function startProxy({ settings, host, metrics, machine, tasks }: Start): void {
  const { name, nodeName, network, enforcesPolicies, onSynced, ...ofServices } = settings
  const { clock, random, log, flow } = host
  const { conntrack, kernelSettings, listeningPorts, listeners } = machine
  const client = host.client(name, proxyUser)
  const informers = new Informers(client, { clock, random, log }, tasks)
  const events = startProxyEvents({ client, nodeName, clock, random, log }, tasks)
  if (network !== undefined) startPodRoutes({ settings, host, metrics, network, events, informers, tasks })
  const newNftables = (of: 'services' | 'policies') => {
    const nftables = machine.newNftables(of)
    tasks.signal.addEventListener('abort', () => void nftables[Symbol.asyncDispose](), { once: true })
    return nftables
  }
  const nftables = newNftables('services')
  const shared = { informers, kernelSettings, clock, log, flow, nodeName }
  const proxy = startServiceProxy(
    {
      ...ofServices,
      ...shared,
      nftables,
      conntrack,
      listeners,
      metrics,
      events,
      ...(network === undefined ? {} : { loopbackInterface: bridge }),
    },
    tasks,
  )
  const opened = Promise.withResolvers<ProxyPorts>()
  if (settings.ports.length === 0) opened.resolve({})
  else
    tasks.start('proxy ports', (signal) =>
      openPorts({ ...settings, health: proxy.health, registry: host.metrics, listeners, log }, opened.resolve, signal),
    )
  const enforced =
    network !== undefined || enforcesPolicies
      ? startPolicies({ ...shared, nftables: newNftables('policies') }, { client, host, network, tasks })
      : Promise.resolve()
  if (network !== undefined)
    startHostPorts(
      { ...shared, nftables, conntrack, events, metrics, podRanges: network.podRanges, listeningPorts },
      tasks,
    )
  void Promise.all([opened.promise, proxy.synced, enforced]).then(([ports]) => onSynced?.(ports))
}

type PortsOptions = Parameters<typeof listenForProxy>[1] &
  Pick<ProxySettings, 'ports' | 'arePortsOptional'> &
  Pick<ComponentHost, 'log'> &
  Pick<ProxyMachine, 'listeners'>

/** Load balancers, which are other machines, ask for the health of the proxy. */
async function openPorts(
  { ports, arePortsOptional, listeners, log, ...served }: PortsOptions,
  onOpen: (opened: ProxyPorts) => void,
  signal: AbortSignal,
): Promise<void> {
  await using cleanUps = new AsyncDisposableStack()
  let opened: ProxyPorts = {}
  for (const at of ports)
    try {
      opened = { ...opened, ...(await listenForProxy(at, served, listeners, cleanUps)) }
    } catch (error) {
      if (!arePortsOptional) throw error
      log.warn('a port of the service proxy cannot be opened', { ...at, error: errorText(error) })
    }
  onOpen(opened)
  await unlessAborted(new Promise<never>(() => {}), signal)
}

interface PolicyStart {
  readonly client: Client
  readonly host: ComponentHost
  readonly network: OwnNetwork | undefined
  readonly tasks: TaskGroup
}

/** Resolves when they are enforced for the first time. */
function startPolicies(
  deps: Omit<PolicyAgentDeps, 'ownRanges' | 'reports'>,
  { client, host: { clock, random, log, metrics: registry }, network, tasks }: PolicyStart,
): Promise<void> {
  const { nodeName } = deps
  const reports = startPolicyReports({ client, nodeName, registry, clock, random, log }, tasks)
  const enforced = Promise.withResolvers<void>()
  const enforce = (agent: PolicyAgent, signal: AbortSignal) => {
    void agent.synced.then(() => enforced.resolve())
    return agent.run(signal)
  }
  if (network !== undefined) {
    const agent = new PolicyAgent({ ...deps, reports, ownRanges: network.podRanges, bridge })
    network.onPolicyAgent(agent)
    tasks.start('network policies', (signal) => enforce(agent, signal))
  } else
    tasks.start('network policies', async (signal) => {
      const ownRanges = await rangesOfNode(deps, signal)
      await enforce(new PolicyAgent({ ...deps, reports, ownRanges }), signal)
    })
  return enforced.promise
}

/** Addresses of the node's ranges that no pod has are closed. */
async function rangesOfNode(
  { informers, nodeName, log }: Pick<PolicyAgentDeps, 'informers' | 'nodeName' | 'log'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const nodes = informers.of(node)
  await unlessAborted(nodes.synced, signal)
  const ranges = nodes.get(nodeName)?.spec.podCIDRs ?? []
  if (ranges.length === 0)
    log.warn('the Node has no ranges of pods, so a pod is open until its network policies are known', { nodeName })
  return ranges
}

interface RoutesStart extends Pick<Start, 'settings' | 'host' | 'metrics' | 'tasks'> {
  readonly network: OwnNetwork
  readonly events: ProxyEvents
  readonly informers: Informers
}

function startPodRoutes({ settings, host, metrics, network, events, informers, tasks }: RoutesStart): void {
  const { nodeName, serviceCidrs = [] } = settings
  const { clock, flow, log } = host
  const { podNetwork, podRanges, clusterCidrs } = network
  const nodeClient = host.client(`kubelet/${nodeName}`, nodeUser(nodeName))
  const publish = async (text: string, signal: AbortSignal) => {
    const annotation = { metadata: { annotations: { [podPathsAnnotation]: text } } }
    await nodeClient.of(node).patch(nodeName, '', annotation, 'merge', context(signal))
  }
  const own = {
    nodeName,
    podRanges,
    interfaceRanges,
    serviceRanges: serviceCidrs.map(mustParseCidr),
    clusterRanges: clusterCidrs.map(mustParseCidr),
  }
  const deps = { nodes: informers.of(node), network: podNetwork, own, events, metrics, clock, flow, log, publish }
  const routes = new PodRoutes(deps)
  tasks.start('pod routes', (signal) => routes.run(signal))
}
