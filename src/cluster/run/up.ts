// up: runs a cluster on this machine until it is stopped.
import { join, resolve } from 'node:path'
import { hostname } from 'node:os'
import { realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { joinHostPort } from '../../base/net/host-port.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { recordNameBytes } from '../../base/observability/span.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { kubernetesServiceAddressOf, type ServiceRanges } from '../../apiserver/strategies/service/service-ranges.ts'
import type { Client } from '../../client/client.ts'
import { exportSpans } from '../../client/flow-export/otlp-exporter.ts'
import { hasFailed } from '../../flows/diagram-colors.ts'
import type { TlsThread } from '../../platform/http/listener.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { registerComponentMetrics } from './component-metrics.ts'
import { expiryGauge } from '../certificates/certificate-expiry.ts'
import { renewCertificates } from '../certificates/certificate-renewal.ts'
import { machineNames, servingHosts } from '../certificates/serving-hosts.ts'
import type { ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { withGiven } from '../certificates/given-certificates.ts'
import { ServerIdentity } from '../bootstrap/server-identity.ts'
import { apiServerUser } from '../client/component-users.ts'
import { flowRecordFile } from '../data-directory/directory-contents.ts'
import { checkStorePresent, openDataDirectory, type DataDirectory } from '../data-directory/open-directory.ts'
import { controllerSettingsOf } from '../flags/controller-flags.ts'
import { ingressChoicesOf } from '../flags/ingress-flags.ts'
import { kubeletSettings } from '../flags/kubelet-flags.ts'
import type { NodeRangeSettings } from '../../controllers/runtime/controller-settings.ts'
import { clusterCidrDefault, firstNodeRanges, nodeRangesOf } from '../flags/node-ranges.ts'
import { serviceRangesOf } from '../flags/service-ranges.ts'
import { signingDurationMs } from '../flags/signing-duration.ts'
import { ClusterKubeconfigs } from '../kubeconfig/cluster-kubeconfigs.ts'
import type { WrittenKubeconfig } from '../kubeconfig/write-kubeconfig.ts'
import { machineNetworks, nodeAddressOf, rangeConflict } from '../node/machine-network.ts'
import type { RealNode } from '../node/real-node.ts'
import { originAnnotation, PeerServers, type OwnServer } from '../peers/peer-servers.ts'
import { requireProxyNames, type FrontProxySettings } from '../policy/front-proxy-settings.ts'
import { readPolicySettings, type PolicySettings } from '../policy/policy-settings.ts'
import { buildRequestPolicies, type BuiltPolicies } from '../policy/request-policies.ts'
import { leaseElectionsName } from '../../client/coordinated-election/lease-elections.ts'
import { simulatedNodeName } from '../components/simulated-nodes.ts'
import { usedVersionAnnotation } from '../rotation/follow-shared-files.ts'
import { managedEncryptionAnnotation } from '../rotation/rotate-encryption-key.ts'
import { programVersions } from '../components/program-versions.ts'
import { newIdentity } from '../components/start-elected.ts'
import { Cluster } from './cluster.ts'
import { issueCertificates, openClusterStorage, reloadsEncryption, type ClusterStorage } from './cluster-storage.ts'
import { keepFlowRecord, readKeptFlowRecord } from './kept-flow-record.ts'
import { LocalNode } from './local-node.ts'
import { serve, type ServedCluster } from './serve.ts'
import { ServerCertificates } from './server-certificates.ts'
import { withStored } from './shared-settings.ts'
import { removeStaleNodes } from './stale-nodes.ts'
import { scheduleOf } from '../snapshots/snapshot-schedule.ts'
import { StopProgress } from './stop-progress.ts'
import { directoryRemover } from './host-directories.ts'
import { useSharedFiles } from './use-shared-files.ts'
import { resolveUpOptions, type ResolvedUpOptions, type UpOptions } from './up-options.ts'

/** How long open requests may take during the stop. */
const drainMs = 1_000
/** While the store cannot be written, a stop does not wait longer. */
const withdrawalMsMax = 2_000

const { signal: never } = new AbortController()
const nodeDeps = { clock: realClock, random: systemRandom, platform: nodePlatform }

export interface Running extends AsyncDisposable {
  readonly url: string
  /** The result for the named kubeconfig; undefined with given certificates. */
  readonly kubeconfig: WrittenKubeconfig | undefined
}

export async function up(upOptions: UpOptions): Promise<Running> {
  const given = resolveUpOptions(upOptions)
  const { dataDirectory, containers, log, onProgress, onStopping } = given
  const cleanUps = new AsyncDisposableStack()
  const stopping = new StopProgress(realClock)
  try {
    const directory = given.directory ?? cleanUps.use(await openDataDirectory(dataDirectory, 'cluster'))
    const options = withStored(given, directory)
    checkStorePresent(directory, options.store.kind)
    const kubeconfigs =
      options.given === undefined ? new ClusterKubeconfigs(options, nodePlatform.files, realClock) : undefined
    await kubeconfigs?.check()
    const settings = await readPolicySettings(options.policyFlags, nodePlatform.files)
    const serviceRanges = serviceRangesOf(options.serviceRangeFlags)
    const rangesUnless = { isOn: true, clusterCidr: clusterCidrDefault(options.nodes) }
    const nodeRanges = nodeRangesOf(options.nodeRangeFlags, rangesUnless, serviceRanges.clusterCidrs)
    const podCidrs = firstNodeRanges(nodeRanges)
    if (containers !== 'none') {
      // Before the cluster has stored anything in the range of Services. Without real containers, other pod ranges can still be chosen.
      const podRanges = containers === 'must' ? podCidrs : []
      const conflict = rangeConflict({ podRanges, serviceRanges: serviceRanges.clusterCidrs }, machineNetworks())
      if (conflict !== undefined) throw new Error(conflict)
    }
    const metrics = new Metrics()
    const hosts = currentHosts(options)
    const tlsThread = cleanUps.use(nodePlatform.listeners.startTlsThread())
    onProgress('opening the store, reading certificates')
    const storage = await openClusterStorage(options, {
      directory,
      hosts,
      metrics,
      cleanUps,
      stopping,
      kubeconfigs: kubeconfigs?.outside ?? [],
    })
    registerComponentMetrics(metrics, cleanUps.use(nodePlatform.processStats.start()))
    const { httpPort, httpsPort } = ingressChoicesOf(options.ingressFlags)
    const nodeOptions = {
      dataDirectory,
      hostIp: nodeAddressOf(options.host),
      ranges: { podRanges: podCidrs, serviceRanges: serviceRanges.clusterCidrs },
      ingressPorts: [httpPort, httpsPort],
      settings: kubeletSettings(options.kubeletFlags),
      kubeletPort: options.kubeletPort,
      authority: storage.certificates.authority,
      endsContainers: options.endsContainers,
    }
    const localNode = new LocalNode(nodeOptions, log, stopping)
    const policies = buildRequestPolicies(
      {
        ...nodeDeps,
        log,
        metrics,
        accountKey: storage.certificates.accountKey,
        oldAccountKeys: storage.certificates.oldAccountKeys,
      },
      settings,
    )
    cleanUps.defer(() => policies.close())
    cleanUps.use(localNode)
    if (containers === 'must') onProgress('starting containerd')
    const realNode = containers === 'must' ? await localNode.start(never) : undefined
    const certificates = new ServerCertificates(storage.certificates)
    let uiPort: number | undefined
    // What is known once the server listens.
    const listening: { server?: OwnServer } = {}
    const cluster = newCluster(options, {
      storage,
      policies,
      settings,
      nodeRanges,
      serviceRanges,
      metrics,
      certificates,
      uiPort: () => uiPort,
      ownServer: () => listening.server,
    })
    if (options.flowKept > 0) {
      const path = join(dataDirectory, flowRecordFile)
      await readKeptFlowRecord(path, cluster.flow, { ...nodePlatform, log })
      cleanUps.defer(() => keepFlowRecord(path, cluster.flow, options.flowKept, { ...nodeDeps, ...nodePlatform, log }))
    }
    cleanUps.defer(stopping.step('controllers, scheduler and kubelets to stop', () => cluster.stop()))
    if (realNode !== undefined) cluster.addRealNode(realNode)
    onProgress('starting the API server')
    cluster.startServer()
    const { frontProxy } = settings
    const served = await serveCluster(options, cluster, { tlsThread, storage, metrics, frontProxy })
    cleanUps.defer(stopping.step('open requests', () => served.close(drainMs)))
    const identity = newServerIdentity(options, storage, cluster, served)
    listening.server = { lease: identity.name, machine: hostname() }
    const withdraw = async (signal: AbortSignal) => {
      await Promise.all([cluster.withdraw(signal), identity.withdraw(signal)])
    }
    cleanUps.defer(stopping.step('its address to be withdrawn', () => withdrawn(withdraw, log)))
    if (options.uiPort !== undefined) uiPort = await listenForUi(served, options.uiHost, options.uiPort)
    cleanUps.defer(stopping.step('pods of this machine to shut down', () => localNode.shutDown()))
    const [kubeconfig] = await Promise.all([kubeconfigs?.write(served.url, storage.certificates), cluster.ready])
    const publish = publisher(storage)
    const publishAuthorities = ({ authority, proxyAuthority }: ClusterCertificates) =>
      publish(async () => {
        await cluster.publishInfo({ server: served.url, authority }, never)
        const authorities = { authority, proxyAuthority: frontProxy.authority ?? proxyAuthority }
        await cluster.publishAuthorities(authorities, frontProxy.rules, never)
      })
    await publish(() => cluster.publish(options.advertisedHost ?? served.host, served.port, never))
    await publishAuthorities(storage.certificates)
    certificates.onChange((fresh) => served.renew(fresh))
    certificates.onChange(async (fresh) => void (await kubeconfigs?.write(served.url, fresh)))
    certificates.onChange(publishAuthorities)
    certificates.onChange(async ({ authority }) => {
      localNode.trust(authority)
      await publish(() => cluster.announceAuthority(authority, never))
    })
    const tasks = cleanUps.use(
      new TaskGroup({ onFailure: (task, error) => log.error('a task failed', { task, error: errorText(error) }) }),
    )
    startNodes({ options, directory, cluster, served, localNode, realNode, publish }, tasks)
    startSpanExport(options, cluster, tasks)
    tasks.start('identity', (stop) => identity.run(stop))
    startSharedFiles({ options, directory, storage, cluster, identity, policies, certificates }, tasks)
    startMaintenance({ options, directory, storage, certificates, hosts, metrics }, tasks)
    return {
      url: served.url,
      kubeconfig,
      [Symbol.asyncDispose]: () => stopping.during(() => cleanUps.disposeAsync(), onStopping),
    }
  } catch (error) {
    await cleanUps.disposeAsync()
    throw error
  }
}

/** The names and addresses at which the API server can be reached now. */
const currentHosts = ({ host, tlsSans, serviceRangeFlags }: ResolvedUpOptions): readonly string[] => {
  const serviceAddress = kubernetesServiceAddressOf(serviceRangesOf(serviceRangeFlags))
  return servingHosts(host, [...tlsSans, serviceAddress], machineNames())
}

/** Whether other processes may use the store, too. */
const isShared = ({ store }: ResolvedUpOptions): boolean => store.kind === 'etcd'

interface ClusterDeps {
  readonly storage: ClusterStorage
  readonly policies: BuiltPolicies
  readonly settings: PolicySettings
  readonly nodeRanges: NodeRangeSettings
  readonly serviceRanges: ServiceRanges
  readonly metrics: Metrics
  readonly certificates: ServerCertificates
  readonly uiPort: () => number | undefined
  readonly ownServer: () => OwnServer | undefined
}

async function withdrawn(withdraw: (signal: AbortSignal) => Promise<void>, log: Log): Promise<void> {
  const deadline = new AbortController()
  const timer = realClock.after(withdrawalMsMax, () => deadline.abort(new Error('the store does not respond')))
  try {
    await withdraw(deadline.signal)
  } catch (error) {
    log.warn('the address of the API server was not withdrawn; its lease ends', { error: errorText(error) })
  } finally {
    timer.cancel()
  }
}

function newCluster(
  options: ResolvedUpOptions,
  { storage, policies, settings, nodeRanges, serviceRanges, metrics, certificates, uiPort, ownServer }: ClusterDeps,
): Cluster {
  const {
    nodes,
    containers,
    flowEvents,
    schedulerConfiguration,
    signingDuration,
    hasVolumeSnapshots,
    hasGatewayApi,
    hasCoordinatedElection,
    hasNoPeerProxy,
    loadBalancers,
    snapshots,
    manifests,
    dataDirectory,
    log,
  } = options
  const proxyIdentity = settings.proxyIdentity ?? (() => certificates.current.components['front-proxy-client'])
  const shared = {
    identity: newIdentity(systemRandom),
    peers: (client: Client) =>
      new PeerServers({
        client,
        outbound: nodeOutbound,
        tls: () => ({ authority: certificates.current.authority, ...proxyIdentity() }),
        own: ownServer,
      }),
  }
  // The range of this machine's node is not assigned to others.
  const reserved =
    containers === 'none' ? nodeRanges.reserved : [...nodeRanges.reserved, ...firstNodeRanges(nodeRanges)]
  return new Cluster({
    ingress: ingressChoicesOf(options.ingressFlags),
    clock: realClock,
    random: systemRandom,
    log,
    metrics,
    store: storage.store,
    ...(isShared(options) ? shared : {}),
    policies: policies.policies,
    tokenUses: policies.tokenUses,
    nodes,
    flowEvents,
    schedulerConfiguration,
    serviceRanges,
    hasVolumeSnapshots,
    hasGatewayApi,
    hasNoPeerProxy,
    ...(hasCoordinatedElection && { coordinatedElection: programVersions }),
    loadBalancers,
    snapshots: snapshots && scheduleOf(snapshots, dataDirectory),
    manifests: { folder: resolve(manifests ?? join(dataDirectory, 'manifests')), server: hostname() },
    localPath: true,
    controllerSettings: {
      certificateAuthority: () => certificates.current.authority,
      signer: certificates.signer,
      certificateLifetimeMs: signingDurationMs(signingDuration),
      legacyTokens: legacyTokenIssuer(policies.accountKeys),
      nodeRanges: { ...nodeRanges, reserved },
      ...controllerSettingsOf(options.controllerFlags),
      removeDirectory: directoryRemover(nodePlatform.files, [resolve(dataDirectory)]),
    },
    kubeletTls: kubeletTls(certificates, settings),
    proxyIdentity,
    advertisesAddOns: containers !== 'none',
    kmsCheck: storage.encryption.check,
    uiPort,
  })
}

/** The certificate is read for each call, because it is renewed while the cluster runs. */
const kubeletTls = (certificates: ServerCertificates, { kubeletAuthority }: PolicySettings) => ({
  get certificate() {
    return certificates.current.components['apiserver-kubelet-client'].certificate
  },
  get key() {
    return certificates.current.components['apiserver-kubelet-client'].key
  },
  ...(kubeletAuthority === '' ? { insecureSkipVerify: true } : { authority: kubeletAuthority }),
})

interface ServeClusterDeps {
  readonly tlsThread: TlsThread
  readonly storage: ClusterStorage
  readonly metrics: Metrics
  readonly frontProxy: FrontProxySettings
}

async function serveCluster(
  { host, port, limits, log }: ResolvedUpOptions,
  cluster: Cluster,
  { tlsThread, storage: { certificates }, metrics, frontProxy }: ServeClusterDeps,
): Promise<ServedCluster> {
  requireProxyNames(frontProxy, certificates.authority)
  const deps = { platform: nodePlatform, clock: realClock, log, metrics, proxyAuthority: frontProxy.authority }
  try {
    return await serve(cluster, { ...deps, host, port, tlsThread, limits, certificates })
  } catch (cause) {
    const message = `cannot listen on ${host}:${port}; use --bind and --port for another address, --port 0 for any port`
    throw new Error(message, { cause })
  }
}

async function listenForUi(served: ServedCluster, host: string, port: number): Promise<number> {
  try {
    return await served.listenForUi(host, port)
  } catch (cause) {
    throw new Error(`cannot listen on ${host}:${port} for the web UI; use --ui-port and --ui-bind`, { cause })
  }
}

const newServerIdentity = (
  { log, advertisedHost, given }: ResolvedUpOptions,
  { isEncryptionManaged }: ClusterStorage,
  cluster: Cluster,
  { host, port, url }: ServedCluster,
) =>
  new ServerIdentity(
    { hostname: hostname(), host, port },
    {
      [usedVersionAnnotation]: '',
      // Files of servers are replaced where no flags name the keys.
      ...(given === undefined && isEncryptionManaged ? { [managedEncryptionAnnotation]: 'true' } : {}),
      [originAnnotation]: advertisedHost === undefined ? url : `https://${joinHostPort(advertisedHost, port)}`,
    },
    {
      client: cluster.client('apiserver', apiServerUser),
      clock: realClock,
      random: systemRandom,
      log,
      crypto: nodePlatform.crypto,
    },
  )

interface SharedFilesDeps {
  readonly options: ResolvedUpOptions
  readonly directory: DataDirectory
  readonly storage: ClusterStorage
  readonly cluster: Cluster
  readonly identity: ServerIdentity
  readonly policies: BuiltPolicies
  readonly certificates: ServerCertificates
}

/** Keys that flags name are replaced outside of the cluster. */
function startSharedFiles(
  { options, directory, storage, cluster, identity, policies: { accountKeys }, certificates }: SharedFilesDeps,
  tasks: TaskGroup,
): void {
  const { given, log } = options
  if (given !== undefined) return
  const client = cluster.client('apiserver', apiServerUser)
  const useAuthorities = () => certificates.replace(() => issueCertificates(directory, currentHosts(options)))
  const { plainStore, encryption, isEncryptionManaged } = storage
  const useEncryption = async (stop: AbortSignal) => {
    if (!isEncryptionManaged) throw new Error('the encryption configuration is the file that a flag names')
    await encryption.reload(stop)
    await directory.note({ encryptionConfig: encryption.path })
  }
  const use = {
    client,
    identity,
    directory: directory.path,
    accountKeys,
    useAuthorities,
    useEncryption,
    plainStore,
    log,
  }
  tasks.start('shared files', (stop) => useSharedFiles(use, stop))
}

type Publish = (write: () => Promise<void>) => Promise<void>

/** Writes the addresses of the API server once objects can be written. */
const publisher =
  ({ encryption }: ClusterStorage): Publish =>
  (write) =>
    encryption.runWhenHealthy(write, never)

interface NodeStart {
  readonly options: ResolvedUpOptions
  readonly directory: DataDirectory
  readonly cluster: Cluster
  readonly served: ServedCluster
  readonly localNode: LocalNode
  /** Undefined while it is to be started, or when there is none. */
  readonly realNode: RealNode | undefined
  readonly publish: Publish
}

/** Starts the other components and, if it has not started yet, the node of this machine. */
function startNodes(
  { options, directory, cluster, served, localNode, realNode, publish }: NodeStart,
  tasks: TaskGroup,
): void {
  const { nodes, containers, isAlone, log, onNode } = options
  const simulated = Array.from({ length: nodes }, (_, index) => simulatedNodeName(index))
  const own = hostname().toLowerCase()
  const stale = { directory, client: cluster.client('apiserver', apiServerUser), log, isShared: isShared(options) }
  const removeStale = (requested: readonly string[], stop: AbortSignal) =>
    removeStaleNodes(stale, stale.isShared ? requested.filter((name) => name === own) : requested, context(stop))
  // In a separate turn of the event loop, so that callers learn first that the API is ready.
  tasks.start('components', async (stop) => {
    await eventLoopTurn()
    if (!isAlone) {
      await removeStale(containers === 'none' ? simulated : [...simulated, own], stop)
      cluster.startOthers()
    } else cluster.components.get(leaseElectionsName)?.start()
    await cluster.bindNodes(stop)
  })
  const openApi = async (stop: AbortSignal) => {
    const address = await localNode.openApi(served, served.addListener)
    if (address !== undefined) await publish(() => cluster.publish(address.host, address.port, stop))
  }
  if (realNode !== undefined) tasks.start('API access of pods', openApi)
  if (containers !== 'should') return
  tasks.start('node', async (stop) => {
    await eventLoopTurn()
    const outcome = await localNode.start(stop).catch((error: unknown) => errorText(error))
    if (stop.aborted) return
    if (typeof outcome !== 'string') {
      await openApi(stop)
      cluster.addRealNode(outcome)
      return onNode({ kind: 'real', ...outcome.description })
    }
    log.warn('this machine runs no containers; a simulated node runs instead', { why: outcome })
    await removeStale(nodes === 0 ? [simulatedNodeName(0)] : simulated, stop)
    if (nodes === 0) cluster.addSimulatedNode()
    onNode({ kind: 'simulated', why: outcome })
  })
}

function startSpanExport(
  { otlpEndpoint: endpoint, log }: ResolvedUpOptions,
  { flow }: Cluster,
  tasks: TaskGroup,
): void {
  if (endpoint === undefined) return
  const record = systemRandom.bytes(recordNameBytes).toHex()
  const { outbound } = nodePlatform
  tasks.start('export of spans', (stop) =>
    exportSpans({ flow, record, endpoint, outbound, hasFailed, random: systemRandom, clock: realClock, log }, stop),
  )
}

interface Maintenance {
  readonly options: ResolvedUpOptions
  readonly directory: DataDirectory
  readonly storage: ClusterStorage
  readonly certificates: ServerCertificates
  /** The hosts in the current serving certificate. */
  readonly hosts: readonly string[]
  readonly metrics: Metrics
}

/** Starts the renewal of certificates and the reload of the encryption configuration. */
function startMaintenance(
  { options, directory, storage, certificates, hosts, metrics }: Maintenance,
  tasks: TaskGroup,
): void {
  const { encryption } = storage
  if (reloadsEncryption(options)) tasks.start('encryption configuration', (signal) => encryption.reloadOnChange(signal))
  const showExpiry = expiryGauge(metrics)
  showExpiry(storage.certificates)
  certificates.onChange(async (fresh) => showExpiry(fresh))
  const renewal = {
    clock: realClock,
    log: options.log,
    hosts: () => currentHosts(options),
    async renew(named: readonly string[]) {
      await certificates.replace(async () => withGiven(await issueCertificates(directory, named), options.given))
      return certificates.current
    },
  }
  tasks.start('renew certificates', (signal) =>
    renewCertificates({ certificates: storage.certificates, hosts }, renewal, signal),
  )
}
