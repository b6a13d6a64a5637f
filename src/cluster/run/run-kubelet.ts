// A kubelet in its own process: it joins a cluster with a kubeconfig, rotates its certificates and serves its own
// ports.
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { familyOf } from '../../base/net/address-family.ts'
import { urlHost } from '../../base/net/host-port.ts'
import { realClock } from '../../base/time/clock.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer/informer.ts'
import type { AvoidedServers } from '../../client/server-balancer/avoided-servers.ts'
import { rotateCertificate } from '../../kubelet/certificates/rotating-certificate.ts'
import type { CertificateFile } from '../../kubelet/certificates/certificate-file.ts'
import { requestCertificate } from '../../kubelet/certificates/signing-request.ts'
import { runHeartbeat } from '../../kubelet/node/heartbeat.ts'
import { Kubelet } from '../../kubelet/kubelet.ts'
import type { NodeDescription } from '../../kubelet/node/node-status.ts'
import { cachedAuth, delegatedAuth } from '../../kubelet/server/delegated-auth.ts'
import type { KubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { localPathAgent, networkAgent } from '../../apiserver/authorization/node/node-agents.ts'
import type { User } from '../../apiserver/request/request.ts'
import type { Identity } from '../../pki/authority.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import { knownServersFile, kubeletFiles } from '../data-directory/directory-contents.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { joinCluster, writeNodeKubeconfig, type Bootstrap } from '../client/join-cluster.ts'
import { clusterServiceRanges } from '../node/cluster-service-ranges.ts'
import { followAuthorities, type FollowAuthoritiesDeps } from '../node/follow-authorities.ts'
import { kubeletServer, startRealKubelet, type KubeletNodeDeps } from '../node/kubelet-node.ts'
import type { KubeletServerHolder } from '../node/kubelet-port.ts'
import { listenForHealth, listenForRequests } from '../node/kubelet-ports.ts'
import type { KubeletProcessSettings } from '../flags/kubelet-process-flags.ts'
import { proxyUser } from '../client/component-users.ts'
import { openRemote, type Remote } from '../client/remote.ts'
import { proxyComponent } from '../components/proxy.ts'
import { nodeProxySettings, type NodeProxyRanges } from '../components/real-node.ts'
import { nodeAgentTokens, ServiceAccountCredentials } from '../client/service-account-credentials.ts'
import { configz } from '../node/configz.ts'
import type { NodeNetwork } from '../node/node-network.ts'
import type { RealNode } from '../node/real-node.ts'
import { startNodeBalancer, type NodeBalancer } from '../node/server-balancer.ts'
import { startNodeProvisioner } from '../node/node-provisioner.ts'
import { simulatedHost, simulatedVolumes } from '../node/simulated-host.ts'
import { addressTowards, peerOf } from './local-addresses.ts'

export interface RunKubeletOptions {
  readonly kubeconfigPath: string
  readonly bootstrap: Bootstrap | undefined
  /** The flags that give it, for errors. */
  readonly bootstrapFlags: string
  /** The port of a balancer through which the node reaches all API servers; 0 for any free one. Without it, it reaches one. */
  readonly balancerPort?: number | undefined
  readonly dataDirectory: string
  readonly runtime: 'containerd' | 'simulated'
  readonly settings: KubeletSettings
  readonly process: KubeletProcessSettings
  readonly log: Log
  /** Called when its server listens and the node is registered. */
  readonly onReady: (node: { readonly name: string; readonly url: string }) => void
}

/** Runs until the signal is aborted; throws on a failure. */
export async function runKubelet(options: RunKubeletOptions, signal: AbortSignal): Promise<void> {
  const { dataDirectory, log, process: own } = options
  const nodeName = (own.nodeName ?? hostname()).toLowerCase()
  const certificateDirectory = own.certificateDirectory ?? `${dataDirectory}/pki`
  await using cleanUps = new AsyncDisposableStack()
  const directory = cleanUps.use(await openDataDirectory(dataDirectory, 'kubelet'))
  await directory.note({
    files: [...new Set([...(directory.marker.files ?? []), ...createdElsewhere(options, certificateDirectory)])],
  })
  await nodePlatform.files.makeDirectory(certificateDirectory)
  const joined = await joinCluster({ ...options, nodeName, certificateDirectory }, signal)
  const balancer = await startBalancer(options, { nodeName, kubeconfig: joined.kubeconfig }, signal)
  if (balancer !== undefined) cleanUps.use(balancer)
  const remote = cleanUps.use(
    await openRemote(joined.kubeconfig, signal, balancer === undefined ? {} : { through: balancer.at }),
  )
  const client = remote.clientAs(`kubelet/${nodeName}`)
  const deps = { client, clock: realClock, random: systemRandom, log }
  const ending = new AbortController()
  const tasks = cleanUps.use(new TaskGroup({ signal: ending.signal }))
  let endPods = () => Promise.resolve()
  const end = () => void endPods().finally(() => ending.abort(signal.reason))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const flow = new FlowRecorder(realClock)
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  const { file } = joined
  if (file !== undefined && own.rotatesClient)
    tasks.start('client certificate', (stop) => {
      const template = { use: 'client', nodeName } as const
      const onChange = (identity: Identity) => remote.renew(identity)
      return rotateCertificate(
        joined.identity,
        { ...deps, crypto: nodePlatform.crypto, file, template, onChange },
        stop,
      )
    })
  const hostIp =
    own.nodeIp ?? (await addressTowards(balancer?.servers() ?? [peerOf(remote.server)], '--node-ip', signal))
  const access = cachedAuth(delegatedAuth({ client, nodeName }), {
    clock: realClock,
    digest: (text) => nodePlatform.crypto.sha256(text).toHex(),
    ...own.reviews,
  })
  const holder: KubeletServerHolder = { server: undefined }
  const authority = own.clientAuthority ?? remote.authority
  const ports = { own, hostIp, nodeName, certificateDirectory, authority, holder, deps }
  const opened = await listenForRequests(ports, tasks, cleanUps)
  const { port } = opened
  const isHostIpGiven = own.nodeIp !== undefined
  const identity = { name: nodeName, hostIp, isHostIpGiven, kubeletPort: port, labels: own.labels, taints: own.taints }
  const agents = new ServiceAccountCredentials(nodeAgentTokens(client, nodeName), realClock)
  const agentClient = remote.clientWith(`proxy/${nodeName}`, agents.of(networkAgent))
  balancer?.follow(agentClient, tasks)
  const avoidedServers = balancer?.avoided
  const started = await startNode({ options, identity, deps: { ...deps, flow }, agentClient, avoidedServers }, tasks)
  if (file !== undefined) {
    const trust = async (authorities: string) => {
      const kubeconfig = { server: remote.server, authority: authorities, certificatePath: file.path }
      await writeNodeKubeconfig(options.kubeconfigPath, kubeconfig)
      balancer?.trust(authorities)
      remote.trust(authorities)
      if (own.clientAuthority === undefined) opened.trust(authorities)
    }
    const following = { remote, file, nodeName, trust, deps }
    tasks.start('authorities', (stop) => followAuthorities(started.self, followingDeps(following), stop))
  }
  cleanUps.defer(() => started.stop())
  endPods = () => started.shutDown()
  const configuration = configz(options.settings, own)
  holder.server = kubeletServer({ ...started, configuration, nodeName, access, clock: realClock, log })
  await listenForHealth(own, cleanUps)
  await unlessAborted(started.registered, tasks.signal)
  const provisioner = {
    ...deps,
    client: remote.clientWith(`local-path/${nodeName}`, agents.of(localPathAgent)),
    kubeletClient: client,
    host: nodeName,
  }
  startNodeProvisioner({ ...provisioner, nodes: new Map([[nodeName, started.volumes]]) }, tasks)
  options.onReady({ name: nodeName, url: `https://${urlHost(hostIp)}:${port}` })
  await tasks.join()
}

interface Following {
  readonly remote: Remote
  readonly file: CertificateFile
  readonly nodeName: string
  readonly trust: (authorities: string) => Promise<void>
  readonly deps: Omit<KubeletNodeDeps, 'flow'>
}

function followingDeps({ remote, file, nodeName, trust, deps }: Following): FollowAuthoritiesDeps {
  const { crypto } = nodePlatform
  return {
    ...deps,
    crypto,
    nodeName,
    trust,
    anonymous: remote.clientWith(`kubelet/${nodeName}`, { headers: () => Promise.resolve({}) }),
    async renew(signal) {
      const key = crypto.generateKey()
      const certificate = await requestCertificate({ use: 'client', nodeName }, key, { ...deps, crypto }, signal)
      const fresh = { certificate, key: key.privateKey }
      await file.write(fresh)
      remote.renew(fresh)
      return certificate
    },
  }
}

async function startBalancer(
  { balancerPort: port, dataDirectory, log }: RunKubeletOptions,
  of: { readonly nodeName: string; readonly kubeconfig: string },
  signal: AbortSignal,
): Promise<NodeBalancer | undefined> {
  if (port === undefined) return undefined
  const deps = { clock: realClock, random: systemRandom, log }
  return startNodeBalancer({ ...of, port, path: `${dataDirectory}/${knownServersFile}` }, deps, signal)
}

/** Files that joining creates outside of the data directory. An existing kubeconfig is not ours. */
const createdElsewhere = (
  { dataDirectory, kubeconfigPath, bootstrap }: RunKubeletOptions,
  certificateDirectory: string,
): readonly string[] => [
  ...(bootstrap === undefined || existsSync(kubeconfigPath) ? [] : [kubeconfigPath]),
  ...kubeletFiles
    .filter((name) => name.startsWith('pki/') && certificateDirectory !== `${dataDirectory}/pki`)
    .map((name) => name.replace('pki', certificateDirectory)),
]

interface NodeStart {
  readonly options: RunKubeletOptions
  readonly identity: Pick<NodeDescription, 'name' | 'hostIp' | 'isHostIpGiven' | 'kubeletPort' | 'labels' | 'taints'>
  readonly deps: KubeletNodeDeps
  /** Acts as the network agent of the node. */
  readonly agentClient: Client
  /** Those of its balancer, if it has one. */
  readonly avoidedServers: AvoidedServers | undefined
}

interface StartedNode extends Pick<Parameters<typeof kubeletServer>[0], 'runtime' | 'logs' | 'systemLogs' | 'kubelet'> {
  readonly volumes: NodeVolumes
  /** Stops the pods, if the end of this process is a node shutdown. */
  shutDown(): Promise<void>
  stop(): Promise<void>
}

/** Pods get addresses from the range that the cluster assigns to the node. */
async function startNode(
  given: NodeStart,
  tasks: TaskGroup,
): Promise<StartedNode & { readonly registered: Promise<void>; readonly self: Informer<Node> }> {
  const { options, identity, deps } = given
  const { client } = deps
  const fieldSelector = `metadata.name=${identity.name}`
  const self = new Informer<Node>(node, client.of(node), deps, { fieldSelector })
  const registered = Promise.withResolvers<void>()
  self.onChange(({ now }) => now && registered.resolve())
  const start = options.runtime === 'simulated' ? startSimulated : startReal
  const started = await start({ ...given, self }, tasks)
  tasks.start('own node', (signal) => self.run(signal))
  return { ...started, registered: registered.promise, self }
}

interface KnownNodeStart extends NodeStart {
  readonly self: Informer<Node>
}

const rangeOf = ({ spec }: Node): string | undefined => (spec?.podCIDRs ?? []).find((cidr) => familyOf(cidr) === 'IPv4')

const startSimulated = ({ options, identity, deps, self }: KnownNodeStart, tasks: TaskGroup): Promise<StartedNode> => {
  const podRange = () => [...self.all()].map(rangeOf)[0]
  const disk = new SimulatedDisk()
  const runtime = new SimulatedRuntime(deps.clock, deps.random, { podRange, disk })
  const description: NodeDescription = {
    ...identity,
    capacity: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: String(options.settings.podsMax) },
    runtime: `${runtime.name}://${runtime.version}`,
    operatingSystem: 'linux',
    architecture: 'amd64',
  }
  const shutdown = new ManualShutdown()
  const shutDown = () => (options.settings.terminatesPodsOnSigterm ? shutdown.announce() : Promise.resolve())
  const kubelet = new Kubelet({
    ...deps,
    runtime,
    description,
    settings: options.settings,
    host: simulatedHost(runtime, disk, shutdown),
  })
  kubelet.start(tasks)
  const volumes = simulatedVolumes(disk)
  return Promise.resolve({ runtime, logs: runtime.logs, kubelet, volumes, shutDown, stop: () => Promise.resolve() })
}

async function startReal(
  { options, identity, deps, agentClient, avoidedServers, self }: KnownNodeStart,
  tasks: TaskGroup,
): Promise<StartedNode> {
  const { startRealNode } = await import('../node/real-node.ts')
  const { dataDirectory, settings, process: own } = options
  const { runtimeSocket } = own
  const down = { pressures: [], problems: ['container runtime is down'] }
  const whileUnavailable = (description: NodeDescription, signal: AbortSignal) => {
    const runtime = { images: () => Promise.resolve([]) }
    return runHeartbeat({ ...deps, description: { ...description, ...identity }, runtime, state: () => down }, signal)
  }
  const real = await startRealNode(
    {
      ...identity,
      dataDirectory,
      settings,
      whileUnavailable,
      ...(runtimeSocket === undefined ? {} : { runtimeSocket }),
    },
    { platform: nodePlatform, ...deps },
    tasks.signal,
  )
  let provided = ''
  self.onChange(({ now }) => {
    const podRanges = now?.spec.podCIDRs ?? []
    if (podRanges.length === 0 || podRanges.join() === provided) return
    provided = podRanges.join()
    tasks.start('network', async (signal) => {
      const serviceRanges = await clusterServiceRanges(agentClient, deps, signal)
      const network = await real.provideNetwork({ podRanges, serviceRanges }, signal)
      const ranges = { podCidrs: podRanges, serviceCidrs: serviceRanges, avoidedServers, clusterCidrs: [] }
      if (network !== undefined) startProxy({ real, network, ranges }, { ...deps, agentClient }, tasks)
    })
  })
  const described = { ...real, description: { ...real.description, ...identity } }
  const kubelet = startRealKubelet(described, deps, tasks)
  const { runtime, logs, systemLogs, volumes } = real
  return { runtime, logs, systemLogs, volumes, kubelet, shutDown: () => real.shutDown(), stop: () => real.stop() }
}

interface NodeProxyStart {
  readonly real: RealNode
  readonly network: NodeNetwork
  readonly ranges: NodeProxyRanges
}

/** On a machine whose network is not ours, another proxy may route Services; `coxswain proxy` does if it is started. */
function startProxy(
  { real, network, ranges }: NodeProxyStart,
  { client, agentClient, clock, random, log, flow }: KubeletNodeDeps & Pick<NodeStart, 'agentClient'>,
  tasks: TaskGroup,
): void {
  const definition = proxyComponent(nodeProxySettings(real, network, ranges))
  const clientAs = (_sender: string, user: User) => (user === proxyUser ? agentClient : client)
  definition.prepare({ clock, random, log, flow, metrics: new Metrics(), client: clientAs }).start(tasks)
}
