// A service proxy in its own process: connects over HTTPS with a kubeconfig. On request, it enforces network policies as well.
// Its rules remain when it stops.
import { node } from '../../api/core/v1/node/node.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { Conntrack } from '../../machine/conntrack/conntrack.ts'
import { ConntrackProgram } from '../../machine/conntrack/conntrack-program.ts'
import type { KernelSettings } from '../../machine/kernel-settings/kernel-settings.ts'
import { nodeKernelSettings } from '../../machine/kernel-settings/node-kernel-settings.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import { registerProcessMetrics } from '../../platform/process/process-metrics.ts'
import { PolicyAgent, removePolicyRules, type PolicyAgentDeps } from '../../network-policy/policy-agent.ts'
import { startPolicyReports } from '../../network-policy/policy-reports.ts'
import { proxyMetrics } from '../../proxy/metrics/proxy-metrics.ts'
import { startProxyEvents } from '../../proxy/proxy-events.ts'
import { removeServiceRules, startServiceProxy } from '../../proxy/service-proxy.ts'
import { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { openRemote } from '../client/remote.ts'
import { listenForProxy, type ListenAddress, type ProxyPorts } from '../node/proxy-ports.ts'

/** What the proxy changes. Its nftables are disposed of with the proxy. */
export interface ProxyMachine {
  readonly nftables: Nftables
  /** For network policies, whose transactions do not wait for those of Services. */
  readonly policyNftables: Nftables
  readonly conntrack: Conntrack
  readonly kernelSettings: KernelSettings
}

export interface RunProxyOptions {
  readonly kubeconfig: string
  readonly nodeName: string
  /** The addresses of pods. */
  readonly podCidrs: readonly string[]
  readonly masqueradesAll: boolean
  /** As kube-proxy, the proxy does not enforce network policies unless it is asked to. */
  readonly enforcesPolicies: boolean
  /** The addresses of node ports, read repeatedly; by default those of the Node. */
  readonly nodeAddresses?: () => readonly string[]
  /** Nowhere when omitted. */
  readonly healthz?: ListenAddress
  readonly metricsAt?: ListenAddress
  /** This machine when omitted. */
  readonly machine?: ProxyMachine
  readonly log: Log
  /** Called when the rules were applied for the first time, with the ports that are served. */
  readonly onSynced: (ports: ProxyPorts) => void
}

/** Runs until the signal is aborted. */
export async function runProxy(options: RunProxyOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, nodeName, podCidrs, masqueradesAll, nodeAddresses, log, onSynced } = options
  await using cleanUps = new AsyncDisposableStack()
  const [clock, random, registry] = [realClock, systemRandom, new Metrics()]
  const remote = cleanUps.use(await openRemote(kubeconfig, signal, new ClientMetrics(registry, clock)))
  registerProcessMetrics(registry, cleanUps.use(nodePlatform.processStats.start()))
  const flow = new FlowRecorder(clock)
  const { nftables, policyNftables, conntrack, kernelSettings } = options.machine ?? thisMachine()
  cleanUps.use(nftables)
  cleanUps.use(policyNftables)
  const tasks = new TaskGroup({ signal })
  cleanUps.defer(async () => {
    tasks.stop()
    // Their failure is thrown below.
    await tasks.join().catch(() => undefined)
  })
  const client = remote.clientAs('proxy')
  const informers = new Informers(client, { clock, random, log }, tasks)
  const proxy = startServiceProxy(
    {
      informers,
      listeners: nodePlatform.listeners,
      healthCheckHost: '0.0.0.0',
      metrics: proxyMetrics(registry),
      events: startProxyEvents({ client, nodeName, clock, random, log }, tasks),
      ...{ nftables, conntrack, kernelSettings, clock, log, flow, nodeName, podCidrs, masqueradesAll },
      ...(nodeAddresses === undefined ? {} : { nodeAddresses }),
    },
    tasks,
  )
  const ports = await listenForProxy(options, { health: proxy.health, registry }, nodePlatform.listeners, cleanUps)
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  const enforced = Promise.withResolvers<void>()
  if (options.enforcesPolicies) {
    const reports = startPolicyReports({ client, nodeName, registry, clock, random, log }, tasks)
    const ofPolicies = { informers, nftables: policyNftables, kernelSettings, clock, log, flow, nodeName, reports }
    tasks.start('network policies', (stop) => enforcePolicies(ofPolicies, enforced.resolve, stop))
  } else enforced.resolve()
  void Promise.all([proxy.synced, enforced.promise]).then(() => onSynced(ports))
  await tasks.join()
}

/** Addresses of the node's ranges that no pod has are closed. */
async function enforcePolicies(
  deps: Omit<PolicyAgentDeps, 'ownRanges'>,
  onEnforced: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { informers, nodeName, log } = deps
  const nodes = informers.of(node)
  await unlessAborted(nodes.synced, signal)
  const ownRanges = nodes.get(nodeName)?.spec.podCIDRs ?? []
  if (ownRanges.length === 0)
    log.warn('the Node has no ranges of pods, so a pod is open until its network policies are known', { nodeName })
  const agent = new PolicyAgent({ ...deps, ownRanges })
  void agent.synced.then(onEnforced)
  await agent.run(signal)
}

const newNftables = (): Nftables => new NftProgram({ processes: nodeProcesses, clock: realClock })

const thisMachine = (): ProxyMachine => ({
  nftables: newNftables(),
  policyNftables: newNftables(),
  conntrack: new ConntrackProgram(nodeProcesses),
  kernelSettings: nodeKernelSettings(),
})

/** Removes the rules of a proxy that no longer runs; those of network policies only if it enforced them. */
export async function removeProxyRules(enforcesPolicies: boolean, nftables = newNftables()): Promise<void> {
  await using _nftables = nftables
  await removeServiceRules(nftables)
  if (enforcesPolicies) await removePolicyRules(nftables)
}
