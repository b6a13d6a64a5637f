// up: runs a cluster on this machine until it is stopped.
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { flowEventsDefault } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { kubeconfigText } from '../../pki/kubeconfig.ts'
import type { ListenLimits } from '../../platform/limits/listen-limits.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { registerProcessMetrics } from '../../platform/process/process-metrics.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { MeasuredStore } from '../../store/measured-store.ts'
import { expiryGauge } from '../certificates/certificate-expiry.ts'
import { renewCertificates } from '../certificates/certificate-renewal.ts'
import { machineNames, servingHosts } from '../certificates/serving-hosts.ts'
import { signingDurationMs } from '../flags/signing-duration.ts'
import { Cluster } from './cluster.ts'
import { recordStore } from '../data-directory/record-store.ts'
import { checkStorePresent, openDataDirectory } from '../data-directory/open-directory.ts'
import { encryption } from '../policy/encryption-at-rest.ts'
import { apiServerUser } from '../client/component-users.ts'
import { kubeletSettings, type KubeletFlagValues } from '../flags/kubelet-flags.ts'
import { checkKubeconfig, writeKubeconfig, type WrittenKubeconfig } from '../kubeconfig/write-kubeconfig.ts'
import { clusterCidrDefault, nodeRangesOf, firstNodeRange, type NodeRangeFlagValues } from '../flags/node-ranges.ts'
import { openStore, type StoreChoice } from '../data-directory/open-store.ts'
import { clusterCertificates, type ClusterCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import { readPolicySettings } from '../policy/policy-settings.ts'
import type { RealNode, RealNodeOptions } from '../node/real-node.ts'
import { closeApiToPods, openApiToPods } from '../node/pod-api-access.ts'
import { serve } from './serve.ts'
import { removeStaleNodes, simulatedNodeName } from './stale-nodes.ts'
import { StopProgress, type StopReport } from './stop-progress.ts'
import { storedResource } from '../data-directory/stored-resource.ts'

export interface UpOptions {
  readonly dataDirectory: string
  /** The cluster's name in kubeconfigs. */
  readonly name?: string
  /** A kubeconfig that the cluster's entries are added to, besides the one in the data directory. */
  readonly kubeconfigPath: string
  readonly store: StoreChoice
  readonly host: string
  readonly port: number
  /** Further names and addresses for the API server's certificate. */
  readonly tlsSans?: readonly string[]
  readonly nodes: number
  /** Whether this machine becomes a node with real containers: required, if possible, or not at all. */
  readonly containers?: 'must' | 'should' | 'none'
  /** Flags for authentication, authorization, admission, audit and encryption. */
  readonly policyFlags?: PolicyFlagValues
  /** Flags for pod addresses. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** Flags of this machine's kubelet. */
  readonly kubeletFlags?: KubeletFlagValues
  readonly log: Log
  readonly schedulerConfiguration?: SchedulerConfiguration
  /** Number of recorded flow events; 0 records none. */
  readonly flowEvents?: number
  /** Limits of connections to the API server and their memory. */
  readonly limits?: Partial<ListenLimits>
  /** Validity of the certificates that the cluster signs: `8760h`. */
  readonly signingDuration?: string | undefined
  /** Runs the API server without the other components. */
  readonly isAlone?: boolean
  /** Called with what the start waits for. */
  readonly onProgress?: (what: string) => void
  /** Called when the real node has started, or a simulated one instead. */
  readonly onNode?: (outcome: NodeOutcome) => void
  /** Called with what a slow stop waits for. */
  readonly onStopping?: StopReport
}

export type NodeOutcome =
  | { readonly kind: 'real'; readonly name: string; readonly runtime: string }
  /** A simulated node runs instead. */
  | { readonly kind: 'simulated'; readonly why: string }

/** How long open requests may take during the stop. */
const drainMs = 1_000

export interface Running extends AsyncDisposable {
  readonly url: string
  /** The result for the named kubeconfig. */
  readonly kubeconfig: WrittenKubeconfig
}

export async function up({
  dataDirectory,
  name = 'coxswain',
  kubeconfigPath,
  store,
  host,
  port,
  tlsSans = [],
  nodes,
  containers = 'none',
  policyFlags = {},
  nodeRangeFlags = {},
  kubeletFlags = {},
  log,
  schedulerConfiguration = {},
  flowEvents = flowEventsDefault,
  limits = {},
  signingDuration,
  isAlone = false,
  onProgress = () => {},
  onNode = () => {},
  onStopping = () => {},
}: UpOptions): Promise<Running> {
  const platform = nodePlatform
  const { signal: never } = new AbortController()
  const cleanUps = new AsyncDisposableStack()
  const stopping = new StopProgress(realClock)
  try {
    const directory = cleanUps.use(await openDataDirectory(dataDirectory, 'cluster'))
    checkStorePresent(directory, store.kind)
    const kubeconfigPaths = [...new Set([`${dataDirectory}/admin.kubeconfig`, kubeconfigPath])]
    const present = await platform.files.read(`${dataDirectory}/pki/ca.crt`)
    const owner = { name, dataDirectory, authority: present && new TextDecoder().decode(present) }
    for (const path of kubeconfigPaths) await checkKubeconfig(path, owner)
    const settings = await readPolicySettings(policyFlags, platform.files)
    const nodeRanges = nodeRangesOf(nodeRangeFlags, { isOn: true, clusterCidr: clusterCidrDefault(nodes) })
    const hostsNow = () => servingHosts(host, tlsSans, machineNames())
    const hosts = hostsNow()
    const pkiParts = { platform, clock: realClock, random: systemRandom }
    const issue = (named: readonly string[]) => {
      const isUnfinished = directory.marker.isComplete !== true
      return clusterCertificates(`${dataDirectory}/pki`, { ...pkiParts, hosts: named, isUnfinished })
    }
    onProgress('opening the store, reading certificates')
    const opened = openStore(store, dataDirectory)
    cleanUps.defer(
      stopping.step('the store to write what is left', () =>
        opened.then(
          (plain) => plain.close(),
          () => undefined,
        ),
      ),
    )
    const [certificates, plainStore] = await Promise.all([issue(hosts), opened])
    let current = certificates
    const { accountKey, authority, signer } = certificates
    const encryptionPath = policyFlags['encryption-provider-config']
    const elsewhere = kubeconfigPaths.filter((path) => path !== `${dataDirectory}/admin.kubeconfig`)
    await recordStore(directory, store, plainStore, never)
    await directory.note({
      name,
      isComplete: true,
      kubeconfigs: [...new Set([...(directory.marker.kubeconfigs ?? []), ...elsewhere])],
      ...(encryptionPath === undefined ? {} : { encryptionConfig: resolve(encryptionPath) }),
    })
    const encryptionDeps = { ...platform, random: systemRandom, clock: realClock, log }
    const reloadsEncryption = policyFlags['encryption-provider-config-automatic-reload'] === 'true'
    const encrypted =
      encryptionPath === undefined
        ? undefined
        : cleanUps.use(await encryption(plainStore, encryptionPath, encryptionDeps, reloadsEncryption))
    const metrics = new Metrics()
    const showExpiry = expiryGauge(metrics)
    showExpiry(certificates)
    registerProcessMetrics(metrics, cleanUps.use(platform.processStats.start()))
    const openedStore = new MeasuredStore({
      store: encrypted?.store ?? plainStore,
      clock: realClock,
      metrics,
      resourceOf: storedResource,
    })
    const { policies, tokenUses, close } = buildRequestPolicies(
      { clock: realClock, random: systemRandom, platform, accountKey, log, metrics },
      settings,
    )
    cleanUps.defer(close)
    const podCidr = firstNodeRange(nodeRanges)
    const nodeOptions = { dataDirectory, hostIp: host, podCidr, settings: kubeletSettings(kubeletFlags) }
    let thisMachine: RealNode | undefined
    // Stopped after the kubelet that uses it.
    const started = new AsyncDisposableStack()
    cleanUps.use(started)
    const startNode = async (signal: AbortSignal) => {
      const node = await realNodeOf(nodeOptions, log, signal)
      thisMachine = node
      started.defer(stopping.step('containerd to stop', () => node.stop()))
      started.defer(
        stopping.step('the containers of this machine to end', () =>
          node
            .stopPods()
            .catch((error: unknown) => log.warn('not all containers have ended', { error: errorText(error) })),
        ),
      )
      return node
    }
    if (containers === 'must') onProgress('starting containerd')
    const realNode = containers === 'must' ? await startNode(new AbortController().signal) : undefined
    const hasContainers = containers !== 'none'
    const cluster = new Cluster({
      clock: realClock,
      random: systemRandom,
      log,
      metrics,
      store: openedStore,
      policies,
      tokenUses,
      nodes,
      flowEvents,
      controllerSettings: {
        certificateAuthority: authority,
        signer,
        certificateLifetimeMs: signingDurationMs(signingDuration),
        legacyTokens: legacyTokenIssuer(accountKey, platform.crypto),
        nodeRanges: hasContainers ? { ...nodeRanges, reserved: [...nodeRanges.reserved, podCidr] } : nodeRanges,
      },
      schedulerConfiguration,
      kubeletTls: {
        // Read for each call, because the certificate is renewed while the cluster runs.
        get certificate() {
          return current.components['apiserver-kubelet-client'].certificate
        },
        get key() {
          return current.components['apiserver-kubelet-client'].key
        },
        ...(settings.kubeletAuthority === '' ? { insecureSkipVerify: true } : { authority: settings.kubeletAuthority }),
      },
      advertisesAddOns: hasContainers,
      kmsCheck: encrypted?.check,
    })
    cleanUps.defer(stopping.step('controllers, scheduler and kubelets to stop', () => cluster.stop()))
    if (realNode !== undefined) cluster.addRealNode(realNode)
    onProgress('starting the API server')
    cluster.startServer()
    const served = await serve(cluster, {
      host,
      port,
      isThreaded: true,
      limits,
      metrics,
      certificates,
      platform,
      clock: realClock,
      log,
    }).catch(failed(`cannot listen on ${host}:${port}; --bind and --port choose another place, --port 0 any port`))
    cleanUps.defer(stopping.step('requests that are being answered', () => served.close(drainMs)))
    cleanUps.defer(stopping.step('pods of this machine to shut down', async () => thisMachine?.shutDown()))
    const writeKubeconfigs = async (fresh: ClusterCertificates): Promise<WrittenKubeconfig> => {
      const access = { server: served.url, authority, identity: fresh.admin }
      const written = await Promise.all(
        kubeconfigPaths.map((path) => writeKubeconfig(path, { ...owner, authority }, access, realClock, never)),
      )
      for (const [component, content] of componentKubeconfigs(served.url, fresh))
        await writeIfChanged(`${dataDirectory}/${component}.kubeconfig`, content)
      return written[kubeconfigPaths.indexOf(kubeconfigPath)] as WrittenKubeconfig
    }
    const [kubeconfig] = await Promise.all([writeKubeconfigs(certificates), cluster.ready])
    const publish = async () => {
      await cluster.publish(served.host, served.port, never)
      await cluster.publishInfo({ server: served.url, authority }, never)
    }
    await (encrypted === undefined ? publish() : encrypted.insist(publish, never))
    const tasks = cleanUps.use(
      new TaskGroup({ onFailure: (task, error) => log.error('a task failed', { task, error: errorText(error) }) }),
    )
    const requestedNodes = [
      ...Array.from({ length: nodes }, (_, index) => simulatedNodeName(index)),
      ...(hasContainers ? [hostname().toLowerCase()] : []),
    ]
    const removeStale = (requested: readonly string[], stop: AbortSignal) =>
      removeStaleNodes({ directory, client: cluster.client('apiserver', apiServerUser), log }, requested, context(stop))
    // In a separate turn of the event loop, so that callers learn first that the API is ready.
    tasks.start('components', async (stop) => {
      await eventLoopTurn()
      if (!isAlone) {
        await removeStale(requestedNodes, stop)
        cluster.startOthers()
      }
      await cluster.bindKubeletClient(stop)
    })
    const admitPods = async () => {
      await openApiToPods(podCidr, { served, processes: platform.processes, log }, never)
      started.defer(() => closeApiToPods(platform.processes, never))
    }
    if (realNode !== undefined) tasks.start('access of pods', admitPods)
    if (containers === 'should')
      tasks.start('node', async (stop) => {
        await eventLoopTurn()
        const outcome = await startNode(stop).catch((error: unknown) => errorText(error))
        if (stop.aborted) return
        if (typeof outcome !== 'string') {
          await admitPods()
          cluster.addRealNode(outcome)
          return onNode({ kind: 'real', ...outcome.description })
        }
        log.warn('this machine runs no containers; a simulated node runs instead', { why: outcome })
        const instead = nodes === 0 ? [simulatedNodeName(0)] : requestedNodes.slice(0, nodes)
        await removeStale(instead, stop)
        if (nodes === 0) cluster.addSimulatedNode()
        onNode({ kind: 'simulated', why: outcome })
      })
    if (encrypted !== undefined && reloadsEncryption)
      tasks.start('encryption configuration', (signal) => encrypted.follow(signal))
    const renewal = {
      clock: realClock,
      log,
      hosts: hostsNow,
      issue,
      async apply(fresh: ClusterCertificates) {
        await served.renew(fresh)
        current = fresh
        showExpiry(fresh)
        await writeKubeconfigs(fresh)
      },
    }
    tasks.start('renew certificates', (signal) => renewCertificates({ certificates, hosts }, renewal, signal))
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

const failed =
  (what: string) =>
  (cause: unknown): never => {
    throw new Error(what, { cause })
  }

/** Loaded on demand: most clusters do not need it. */
async function realNodeOf(options: RealNodeOptions, log: Log, signal: AbortSignal): Promise<RealNode> {
  const { startRealNode } = await import('../node/real-node.ts')
  return startRealNode(options, { platform: nodePlatform, clock: realClock, log }, signal)
}

/** Kubeconfigs for components in their own processes. */
const componentKubeconfigs = (server: string, { authority, components }: ClusterCertificates) =>
  (['controller-manager', 'scheduler'] as const).map(
    (name) =>
      [
        name,
        kubeconfigText({ server, authority, identity: components[name] }, { user: `system:kube-${name}` }),
      ] as const,
  )

async function writeIfChanged(path: string, content: string): Promise<void> {
  const { files } = nodePlatform
  const present = await files.read(path)
  if (present === undefined || new TextDecoder().decode(present) !== content) await files.write(path, content)
}
