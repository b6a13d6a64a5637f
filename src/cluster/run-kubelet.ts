// A kubelet of its own process: it joins its cluster by kubeconfig, renews its certificates, and serves on ports of its own.
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { connect } from 'node:net'
import { once } from 'node:events'
import { realClock } from '../base/clock.ts'
import { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import { node, type Node } from '../api/core/v1/node.ts'
import { isIpV4 } from '../api/network-rules.ts'
import { Informer } from '../client/informer.ts'
import { keepRotating } from '../kubelet/certificates/rotating-certificate.ts'
import { beat } from '../kubelet/heartbeat.ts'
import { Kubelet } from '../kubelet/kubelet.ts'
import type { NodeDescription } from '../kubelet/node-status.ts'
import { remembering, reviewAccess } from '../kubelet/server/review-access.ts'
import type { KubeletSettings } from '../kubelet/settings.ts'
import { AnnouncedShutdown } from '../machine/shutdown/announced-shutdown.ts'
import { SimulatedRuntime } from '../machine/runtime/simulated.ts'
import type { Identity } from '../pki/authority.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { kubeletFiles } from './data-directory/contents.ts'
import { openDataDirectory } from './data-directory/open.ts'
import { joinCluster } from './join.ts'
import { kubeletServer, startRealKubelet, type KubeletNodeParts } from './kubelet-node.ts'
import { listenForHealth, listenForRequests, type Answering } from './kubelet-ports.ts'
import type { KubeletProcessSettings } from './kubelet-process-flags.ts'
import { openRemote } from './remote.ts'
import { shownConfiguration } from './shown-configuration.ts'
import { simulatedHost } from './simulated-host.ts'

export interface RunKubeletOptions {
  readonly kubeconfigPath: string
  readonly bootstrapPath: string | undefined
  readonly dataFolder: string
  readonly runtime: 'containerd' | 'simulated'
  readonly settings: KubeletSettings
  readonly process: KubeletProcessSettings
  readonly log: Log
  /** Called once its server listens and the node is registered. */
  readonly onReady: (node: { readonly name: string; readonly url: string }) => void
}

/** Runs until the signal; throws when it cannot go on. */
export async function runKubelet(options: RunKubeletOptions, signal: AbortSignal): Promise<void> {
  const { dataFolder, log, process: own } = options
  const nodeName = (own.nodeName ?? hostname()).toLowerCase()
  const certificateFolder = own.certificateFolder ?? `${dataFolder}/pki`
  await using cleanUps = new AsyncDisposableStack()
  const directory = cleanUps.use(await openDataDirectory(dataFolder, 'kubelet'))
  await directory.note({
    files: [...new Set([...(directory.marker.files ?? []), ...createdElsewhere(options, certificateFolder)])],
  })
  await nodePlatform.files.makeFolder(certificateFolder)
  const joined = await joinCluster({ ...options, nodeName, certificateFolder }, signal)
  const remote = cleanUps.use(await openRemote(joined.kubeconfig, signal))
  const client = remote.clientAs(`kubelet/${nodeName}`)
  const parts = { client, clock: realClock, random: systemRandom, log }
  const ending = new AbortController()
  const tasks = cleanUps.use(new TaskGroup({ signal: ending.signal }))
  let endPods = () => Promise.resolve()
  const end = () => void endPods().finally(() => ending.abort(signal.reason))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const flow = new FlowRecorder(realClock)
  tasks.start('flow', (stop) => remote.tellFlow(flow, log, stop))
  const { file } = joined
  if (file !== undefined && own.rotatesClient)
    tasks.start('client certificate', (stop) => {
      const wish = { use: 'client', nodeName } as const
      const onChange = (identity: Identity) => remote.renew(identity)
      return keepRotating(joined.identity, { ...parts, crypto: nodePlatform.crypto, file, wish, onChange }, stop)
    })
  const hostIp = own.nodeIp ?? (await addressTowards(remote.server))
  const access = remembering(reviewAccess({ client, nodeName }), {
    clock: realClock,
    digest: (text) => nodePlatform.crypto.sha256(text).toHex(),
    ...own.reviews,
  })
  const answering: Answering = { server: undefined }
  const authority = own.clientAuthority ?? remote.authority
  const ports = { own, hostIp, nodeName, certificateFolder, authority, answering, parts }
  const port = await listenForRequests(ports, tasks, cleanUps)
  const identity = { name: nodeName, hostIp, kubeletPort: port, labels: own.labels, taints: own.taints }
  const started = await startNode({ options, identity, parts: { ...parts, flow } }, tasks)
  cleanUps.defer(() => started.stop())
  endPods = () => started.shutDown()
  const configuration = shownConfiguration(options.settings, own)
  answering.server = kubeletServer({ ...started, configuration, nodeName, access, clock: realClock, log })
  await listenForHealth(own, cleanUps)
  await unlessAborted(started.registered, tasks.signal)
  options.onReady({ name: nodeName, url: `https://${hostText(hostIp)}:${port}` })
  await tasks.join()
}

/** Files outside of the data directory that joining creates; a kubeconfig that is there already is not ours. */
const createdElsewhere = (
  { dataFolder, kubeconfigPath, bootstrapPath }: RunKubeletOptions,
  certificateFolder: string,
): readonly string[] => [
  ...(bootstrapPath === undefined || existsSync(kubeconfigPath) ? [] : [kubeconfigPath]),
  ...kubeletFiles
    .filter((name) => name.startsWith('pki/') && certificateFolder !== `${dataFolder}/pki`)
    .map((name) => name.replace('pki', certificateFolder)),
]

const hostText = (host: string): string => (host.includes(':') ? `[${host}]` : host)

interface NodeStart {
  readonly options: RunKubeletOptions
  readonly identity: Pick<NodeDescription, 'name' | 'hostIp' | 'kubeletPort' | 'labels' | 'taints'>
  readonly parts: KubeletNodeParts
}

interface StartedNode extends Pick<Parameters<typeof kubeletServer>[0], 'runtime' | 'logs' | 'systemLogs' | 'kubelet'> {
  /** Ends its pods, where the end of this process is the node's. */
  shutDown(): Promise<void>
  stop(): Promise<void>
}

/** The node's pods get addresses of the range that the cluster gives the node. */
async function startNode(
  { options, identity, parts }: NodeStart,
  tasks: TaskGroup,
): Promise<StartedNode & { readonly registered: Promise<void> }> {
  const { client } = parts
  const fieldSelector = `metadata.name=${identity.name}`
  const self = new Informer<Node>(node, client.of(node), parts, { fieldSelector })
  const registered = Promise.withResolvers<void>()
  self.onChange(({ now }) => now && registered.resolve())
  const start = options.runtime === 'simulated' ? startSimulated : startReal
  const started = await start({ options, identity, parts, self }, tasks)
  tasks.start('own node', (signal) => self.run(signal))
  return { ...started, registered: registered.promise }
}

interface KnownNodeStart extends NodeStart {
  readonly self: Informer<Node>
}

const rangeOf = ({ spec }: Node): string | undefined =>
  (spec?.podCIDRs ?? []).find((cidr) => isIpV4(cidr.split('/')[0] ?? ''))

const startSimulated = ({ options, identity, parts, self }: KnownNodeStart, tasks: TaskGroup): Promise<StartedNode> => {
  const podRange = () => [...self.all()].map(rangeOf)[0]
  const runtime = new SimulatedRuntime(parts.clock, parts.random, { podRange })
  const description: NodeDescription = {
    ...identity,
    capacity: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi', pods: String(options.settings.podsMax) },
    runtime: `${runtime.name}://${runtime.version}`,
    operatingSystem: 'linux',
    architecture: 'amd64',
  }
  const shutdown = new AnnouncedShutdown()
  const shutDown = () => (options.settings.endsPodsOnSigterm ? shutdown.announce() : Promise.resolve())
  const kubelet = new Kubelet({
    ...parts,
    runtime,
    description,
    settings: options.settings,
    host: simulatedHost(runtime, shutdown),
  })
  kubelet.start(tasks)
  return Promise.resolve({ runtime, logs: runtime.logs, kubelet, shutDown, stop: () => Promise.resolve() })
}

async function startReal({ options, identity, parts, self }: KnownNodeStart, tasks: TaskGroup): Promise<StartedNode> {
  const { startRealNode } = await import('./real-node.ts')
  const { dataFolder, settings, process: own } = options
  const { runtimeSocket } = own
  const down = { pressures: [], faults: ['container runtime is down'] }
  const whileSilent = (description: NodeDescription, signal: AbortSignal) => {
    const runtime = { images: () => Promise.resolve([]) }
    return beat({ ...parts, description: { ...description, ...identity }, runtime, state: () => down }, signal)
  }
  const real = await startRealNode(
    { ...identity, dataFolder, settings, whileSilent, ...(runtimeSocket === undefined ? {} : { runtimeSocket }) },
    { platform: nodePlatform, ...parts },
    tasks.signal,
  )
  let provided: string | undefined
  self.onChange(({ now }) => {
    const range = now && rangeOf(now)
    if (range === undefined || range === provided) return
    provided = range
    tasks.start('network', () => real.provideNetwork(range))
  })
  const described = { ...real, description: { ...real.description, ...identity } }
  const kubelet = startRealKubelet(described, parts, tasks)
  const { runtime, logs, systemLogs } = real
  return { runtime, logs, systemLogs, kubelet, shutDown: () => real.shutDown(), stop: () => real.stop() }
}

/** The address by which this machine reaches the API server: that server reaches it there, too. */
async function addressTowards(server: string): Promise<string> {
  const { hostname: host, port } = new URL(server)
  const socket = connect({ host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 443) })
  try {
    await once(socket, 'connect')
    return (socket.localAddress ?? '').replace(/^::ffff:/, '')
  } catch (error) {
    throw new Error(`the API server ${server} cannot be reached; name the address of this node with --node-ip`, {
      cause: error,
    })
  } finally {
    socket.destroy()
  }
}
