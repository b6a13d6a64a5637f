// The network of a real node beyond its own pods: the paths to pods of other nodes, and the rules of Services.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import { isLoopback } from '../../base/net/remote-address.ts'
import { Informers } from '../../client/informer/informers.ts'
import { dnsPort } from '../../dns/forwarder/upstream-servers.ts'
import { dnsMetrics } from '../../dns/server/dns-metrics.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { ConntrackProgram } from '../../machine/conntrack/conntrack-program.ts'
import type { KernelSettings } from '../../machine/kernel-settings/kernel-settings.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import type { ListeningPorts } from '../../machine/listening-ports/listening-ports.ts'
import { nodeListeningPorts } from '../../machine/listening-ports/node-listening-ports.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import { removePodNetwork } from '../../machine/pod-network/node-pod-network.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import type { Platform } from '../../platform/platform.ts'
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import { removeHostPortRules, startHostPorts } from '../../proxy/host-ports/host-port-agent.ts'
import { PodRoutes, podPathsAnnotation } from '../../proxy/pod-routes/pod-routes.ts'
import { proxyMetrics, type ProxyMetrics } from '../../proxy/metrics/proxy-metrics.ts'
import { startProxyEvents, type ProxyEvents } from '../../proxy/proxy-events.ts'
import { removeServiceRules, startServiceProxy, type ServiceProxy } from '../../proxy/service-proxy.ts'
import { removePolicyRules, startPolicyAgent, type PolicyAgent } from '../../network-policy/policy-agent.ts'
import { startPolicyReports } from '../../network-policy/policy-reports.ts'
import { startClusterDns, type ClusterDnsDeps } from './cluster-dns.ts'
import { bridge, interfaceRanges, removeBridge } from './machine-network.ts'
import type { NodeNetwork } from './node-network.ts'
import { listenForProxy, type ProxyAddresses } from './proxy-ports.ts'

const healthzPort = 10_256
const metricsPort = 10_249

export interface NodeServices {
  /** Starts the paths to pods of other nodes and the rules of Services. The rules remain when it stops. */
  startProxy(deps: NodeProxyDeps, tasks: TaskGroup): void
  /** Starts the DNS server for pods. Undefined if another CNI plugin connects the nodes. */
  readonly startDns?: (deps: ClusterDnsDeps, tasks: TaskGroup) => Promise<void>
}

/** The parts of the machine that Services use. */
export interface ServicesMachine extends Pick<Platform, 'listeners' | 'sockets'> {
  readonly processes: Pick<Processes, 'run'> & InteractivePrograms
  readonly kernelSettings: KernelSettings
  readonly listeningPorts: ListeningPorts
}

const thisMachine = (): ServicesMachine => ({
  ...nodePlatform,
  processes: nodeProcesses,
  kernelSettings: nodeKernelSettings(),
  listeningPorts: nodeListeningPorts(),
})

/** Called once, because metrics are defined once. */
export function nodeServices(
  options: NodeServicesOptions,
  metrics: Metrics,
  machine: ServicesMachine = thisMachine(),
): NodeServices {
  const { network, dns } = options
  const ofProxy = { registry: metrics, metrics: proxyMetrics(metrics) }
  const startProxy = (deps: NodeProxyDeps, tasks: TaskGroup) =>
    startNodeProxy({ ...options, ...deps, ...ofProxy, machine }, tasks)
  if (network === undefined) return { startProxy }
  const ofDns = dnsMetrics(metrics, dns.domain, dnsPort)
  return {
    startProxy,
    startDns: (deps, tasks) =>
      startClusterDns(
        { ...deps, gateways: network.gateways, settings: dns, metrics: ofDns, sockets: machine.sockets },
        tasks,
      ),
  }
}

export interface NodeServicesOptions {
  readonly nodeName: string
  readonly hostIp: string
  /** Undefined if another CNI plugin connects the nodes. */
  readonly network: NodeNetwork | undefined
  readonly dns: KubeletSettings['dns']
  /** Called when network policies are enforced. */
  readonly onPolicyAgent: (agent: PolicyAgent) => void
}

export interface NodeProxyDeps {
  /** May list Services, EndpointSlices and Nodes; also pods, namespaces and network policies. */
  readonly client: Client
  /** May annotate the Node. */
  readonly nodeClient: Client
  /** The ranges of all pods, as far as they are known. */
  readonly podCidrs: readonly string[]
  readonly serviceCidrs: readonly string[]
  /** The ranges from which nodes get those of their pods; empty if they are not known. */
  readonly clusterCidrs: readonly string[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
}

interface StartedProxyDeps extends NodeProxyDeps, NodeServicesOptions {
  readonly machine: ServicesMachine
  readonly metrics: ProxyMetrics
  readonly registry: Metrics
}

function startNodeProxy(deps: StartedProxyDeps, tasks: TaskGroup): void {
  const { client, nodeName, hostIp, network, podCidrs, serviceCidrs, clock, log, flow, metrics } = deps
  const { listeners, processes, kernelSettings } = deps.machine
  const informers = new Informers(client, deps, tasks)
  const events = startProxyEvents(deps, tasks)
  if (network !== undefined) startPodRoutes(deps, network, events, informers, tasks)
  const [nftables, conntrack] = [new NftProgram({ processes, clock }), new ConntrackProgram(processes)]
  tasks.signal.addEventListener('abort', () => void nftables[Symbol.asyncDispose](), { once: true })
  const { health } = startServiceProxy(
    {
      ...{
        informers,
        nftables,
        listeners,
        kernelSettings,
        clock,
        log,
        metrics,
        flow,
        nodeName,
        podCidrs,
        serviceCidrs,
      },
      conntrack,
      events,
      healthCheckHost: hostIp,
      masqueradesAll: false,
      ...(network === undefined ? {} : { loopbackInterface: bridge }),
    },
    tasks,
  )
  if (!isLoopback(hostIp)) tasks.start('proxy ports', (signal) => openPorts(health, deps, signal))
  // Another CNI plugin enforces policies and maps host ports itself.
  if (network === undefined) return
  startPolicies(deps, network, informers, tasks)
  startHostPorts(
    {
      ...{ informers, nftables, conntrack, clock, log, flow, events, metrics, nodeName },
      podRanges: network.podRanges,
      listeningPorts: deps.machine.listeningPorts,
    },
    tasks,
  )
}

/** kube-proxy's ports. Load balancers, which are other machines, ask for its health. */
async function openPorts(
  health: ServiceProxy['health'],
  { hostIp, log, registry, machine }: StartedProxyDeps,
  signal: AbortSignal,
): Promise<void> {
  await using cleanUps = new AsyncDisposableStack()
  const loopback = '127.0.0.1'
  const addresses: readonly ProxyAddresses[] = [
    { healthz: { host: hostIp, port: healthzPort } },
    { healthz: { host: loopback, port: healthzPort } },
    { metricsAt: { host: loopback, port: metricsPort } },
  ]
  for (const at of addresses)
    try {
      await listenForProxy(at, { health, registry }, machine.listeners, cleanUps)
    } catch (error) {
      log.warn('a port of the service proxy cannot be opened', { ...at, error: errorText(error) })
    }
  await unlessAborted(new Promise<never>(() => {}), signal)
}

/** Its transactions do not wait for those of Services. */
function startPolicies(deps: StartedProxyDeps, network: NodeNetwork, informers: Informers, tasks: TaskGroup): void {
  const { nodeName, clock, log, flow, machine } = deps
  const { processes, kernelSettings } = machine
  const nftables = new NftProgram({ processes, clock })
  tasks.signal.addEventListener('abort', () => void nftables[Symbol.asyncDispose](), { once: true })
  const options = {
    informers,
    nftables,
    kernelSettings,
    clock,
    log,
    flow,
    nodeName,
    ownRanges: network.podRanges,
    bridge,
    reports: startPolicyReports(deps, tasks),
  }
  deps.onPolicyAgent(startPolicyAgent(options, tasks))
}

/** Removes the rules of Services and network policies, the paths to other nodes and the bridge. No effect on what is not ours. */
export const removeNodeNetwork = (clock: Clock, signal: AbortSignal): Promise<void> =>
  removeNetworkThrough(nodeProcesses, clock, signal)

/** As removeNodeNetwork, with these programs. */
export async function removeNetworkThrough(
  processes: ServicesMachine['processes'],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await using nftables = new NftProgram({ processes, clock })
  await removeServiceRules(nftables)
  await removePolicyRules(nftables)
  await removeHostPortRules(nftables)
  await removePodNetwork(processes, signal)
  await removeBridge(processes, signal)
}

function startPodRoutes(
  { nodeClient, nodeName, serviceCidrs, clusterCidrs, metrics, clock, flow, log }: StartedProxyDeps,
  { podNetwork, podRanges }: NodeNetwork,
  events: ProxyEvents,
  informers: Informers,
  tasks: TaskGroup,
): void {
  const publish = async (text: string, signal: AbortSignal) => {
    const annotation = { metadata: { annotations: { [podPathsAnnotation]: text } } }
    await nodeClient.of(node).patch(nodeName, '', annotation, 'merge', context(signal))
  }
  const [serviceRanges, clusterRanges] = [serviceCidrs.map(mustParseCidr), clusterCidrs.map(mustParseCidr)]
  const own = { nodeName, podRanges, serviceRanges, clusterRanges, interfaceRanges }
  const deps = { nodes: informers.of(node), network: podNetwork, own, events, metrics, clock, flow, log, publish }
  const routes = new PodRoutes(deps)
  tasks.start('pod routes', (signal) => routes.run(signal))
}
