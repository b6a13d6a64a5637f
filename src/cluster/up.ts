// up: a cluster on this machine until it is told to stop. Progress goes to `say`, one line each.
import { realClock } from '../base/clock.ts'
import { flowEventsDefault } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { turn } from '../base/turn.ts'
import { legacyTokenIssuer } from '../apiserver/authentication/legacy-account-tokens.ts'
import { kubeconfigText } from '../pki/kubeconfig.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../scheduler/configuration.ts'
import { certificateLifeMsOf } from './certificate-life.ts'
import { Cluster } from './cluster.ts'
import { encryption } from './encryption.ts'
import { kubeletSettings, type KubeletFlagValues } from './kubelet-flags.ts'
import { lockDirectory } from './lock.ts'
import { clusterCidrDefault, nodeRangesOf, rangeOfFirstNode, type NodeRangeFlagValues } from './node-ranges.ts'
import { openStore, type StoreChoice } from './open-store.ts'
import { clusterCertificates, needsRenewal, type ClusterCertificates } from './pki.ts'
import { clusterPolicies } from './policies.ts'
import type { PolicyFlagValues } from './policy-flags.ts'
import { readPolicySettings } from './policy-settings.ts'
import type { RealNode, RealNodeOptions } from './real-node.ts'
import { serve } from './serve.ts'

export interface UpOptions {
  readonly dataFolder: string
  readonly kubeconfigPath: string
  readonly store: StoreChoice
  readonly host: string
  readonly port: number
  readonly nodes: number
  /** Whether this machine is a node that runs real containers: it must, it should where it can, or it is none. */
  readonly containers?: 'must' | 'should' | 'none'
  /** Flags that say who is believed and who may do what. */
  readonly policyFlags?: PolicyFlagValues
  /** Flags that say which addresses pods get. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** Flags that say how the kubelet of this machine looks after it. */
  readonly kubeletFlags?: KubeletFlagValues
  readonly log: Log
  readonly schedulerConfiguration?: SchedulerConfiguration
  /** How many messages the record of flows keeps; 0 for none. */
  readonly flowEvents?: number
  /** How long certificates are good that the cluster signs: `8760h`. */
  readonly signingDuration?: string | undefined
  /** The API server alone: whoever does the work comes from elsewhere. */
  readonly isAlone?: boolean
  /** Hears what the start waits for. */
  readonly onProgress?: (what: string) => void
  /** Hears, after the start, what became of the node that this machine should be. */
  readonly onNode?: (outcome: NodeOutcome) => void
}

export type NodeOutcome =
  | { readonly kind: 'real'; readonly name: string; readonly runtime: string }
  /** A simulated node runs instead. */
  | { readonly kind: 'simulated'; readonly why: string }

const renewalCheckMs = 24 * 3_600_000
/** How long answers under way may take when the cluster stops. */
const drainMs = 1_000

export interface Running extends AsyncDisposable {
  readonly url: string
}

export async function up({
  dataFolder,
  kubeconfigPath,
  store,
  host,
  port,
  nodes,
  containers = 'none',
  policyFlags = {},
  nodeRangeFlags = {},
  kubeletFlags = {},
  log,
  schedulerConfiguration = {},
  flowEvents = flowEventsDefault,
  signingDuration,
  isAlone = false,
  onProgress = () => {},
  onNode = () => {},
}: UpOptions): Promise<Running> {
  const platform = nodePlatform
  await platform.files.makeFolder(dataFolder).catch(failed(`the data directory ${dataFolder} cannot be used`))
  const cleanUps = new AsyncDisposableStack()
  try {
    cleanUps.use(await lockDirectory(dataFolder))
    const settings = await readPolicySettings(policyFlags, platform.files)
    const nodeRanges = nodeRangesOf(nodeRangeFlags, { isOn: true, clusterCidr: clusterCidrDefault(nodes) })
    const pkiParts = { platform, clock: realClock, random: systemRandom, hosts: [host] }
    onProgress('opening the store, reading certificates')
    const opened = openStore(store, dataFolder)
    cleanUps.defer(() =>
      opened.then(
        (plain) => plain.close(),
        () => undefined,
      ),
    )
    const [certificates, plainStore] = await Promise.all([clusterCertificates(`${dataFolder}/pki`, pkiParts), opened])
    const { accountKey, authority, signer } = certificates
    const encryptionPath = policyFlags['encryption-provider-config']
    const cipherParts = { crypto: platform.crypto, random: systemRandom, files: platform.files, clock: realClock, log }
    const encrypted =
      encryptionPath === undefined ? undefined : await encryption(plainStore, encryptionPath, cipherParts)
    const openedStore = encrypted?.store ?? plainStore
    const metrics = new Metrics()
    const { policies, tokenUses, close } = clusterPolicies(
      { clock: realClock, random: systemRandom, platform, accountKey, log, metrics },
      settings,
    )
    cleanUps.defer(close)
    const podCidr = rangeOfFirstNode(nodeRanges)
    const nodeOptions = { dataFolder, hostIp: host, podCidr, settings: kubeletSettings(kubeletFlags) }
    let thisMachine: RealNode | undefined
    // Stopped after the kubelet that works on it.
    const started = new AsyncDisposableStack()
    cleanUps.use(started)
    const startNode = async (signal: AbortSignal) => {
      const node = await realNodeOf(nodeOptions, log, signal)
      thisMachine = node
      started.defer(() => node.stop())
      started.defer(() =>
        node.rest().catch((error: unknown) => log.warn('not all containers have ended', { error: errorText(error) })),
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
        authority,
        signer,
        certificateLifeMs: certificateLifeMsOf(signingDuration),
        legacyTokens: legacyTokenIssuer(accountKey, platform.crypto),
        nodeRanges: hasContainers ? { ...nodeRanges, keptBack: [...nodeRanges.keptBack, podCidr] } : nodeRanges,
      },
      schedulerConfiguration,
      kubeletTls: {
        ...certificates.components['apiserver-kubelet-client'],
        ...(settings.kubeletAuthority === '' ? { trustsAnyServer: true } : { authority: settings.kubeletAuthority }),
      },
      tellsOfAddOns: hasContainers,
    })
    cleanUps.defer(() => cluster.stop())
    if (realNode !== undefined) cluster.addRealNode(realNode)
    onProgress('starting the API server')
    cluster.startServer()
    const served = await serve(cluster, {
      host,
      port,
      isThreaded: true,
      certificates,
      platform,
      clock: realClock,
      log,
    }).catch(failed(`cannot listen on ${host}:${port}; --bind and --port choose another place, --port 0 any port`))
    cleanUps.defer(() => served.close(drainMs))
    cleanUps.defer(async () => thisMachine?.shutDown())
    await Promise.all([
      platform.files
        .write(kubeconfigPath, served.kubeconfig)
        .catch(failed(`cannot write the kubeconfig ${kubeconfigPath}`)),
      ...componentKubeconfigs(served.url, certificates).map(([name, content]) =>
        writeIfChanged(`${dataFolder}/${name}.kubeconfig`, content),
      ),
      cluster.ready,
    ])
    const { signal: never } = new AbortController()
    await cluster.publish(served.host, served.port, never)
    await cluster.publishInfo({ server: served.url, authority }, never)
    const tasks = cleanUps.use(
      new TaskGroup({ onFailure: (task, error) => log.error('a task failed', { task, error: errorText(error) }) }),
    )
    // In a turn of its own: whoever waits for the API hears first that it is ready.
    tasks.start('components', async (stop) => {
      await turn()
      if (!isAlone) cluster.startOthers()
      await cluster.letCallKubelets(stop)
    })
    if (containers === 'should')
      tasks.start('node', async (stop) => {
        await turn()
        const outcome = await startNode(stop).catch((error: unknown) => errorText(error))
        if (stop.aborted) return
        if (typeof outcome !== 'string') {
          cluster.addRealNode(outcome)
          return onNode({ kind: 'real', ...outcome.description })
        }
        log.warn('this machine runs no containers; a simulated node runs instead', { why: outcome })
        if (nodes === 0) cluster.addSimulatedNode()
        onNode({ kind: 'simulated', why: outcome })
      })
    if (encrypted !== undefined && policyFlags['encryption-provider-config-automatic-reload'] === 'true')
      tasks.start('encryption configuration', (signal) => encrypted.follow(signal))
    tasks.start('renew certificates', async (signal) => {
      for (let current = certificates; ;) {
        await realClock.sleep(renewalCheckMs, signal)
        const all = [current.serving, current.admin, ...Object.values(current.components)]
        if (!all.some(({ certificate }) => needsRenewal(certificate, realClock.nowMs()))) continue
        current = await clusterCertificates(`${dataFolder}/pki`, pkiParts)
        await platform.files.write(kubeconfigPath, await served.renew(current))
        log.info('certificates were renewed', { authority: `${dataFolder}/pki/ca.crt` })
      }
    })
    return { url: served.url, [Symbol.asyncDispose]: () => cleanUps.disposeAsync() }
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

/** Loaded when it is needed: most clusters run without. */
async function realNodeOf(options: RealNodeOptions, log: Log, signal: AbortSignal): Promise<RealNode> {
  const { startRealNode } = await import('./real-node.ts')
  return startRealNode(options, { platform: nodePlatform, clock: realClock, log }, signal)
}

/** For components that run in processes of their own. */
const componentKubeconfigs = (server: string, { authority, components }: ClusterCertificates) =>
  (['controller-manager', 'scheduler'] as const).map(
    (name) => [name, kubeconfigText({ server, authority, identity: components[name] }, `system:kube-${name}`)] as const,
  )

async function writeIfChanged(path: string, content: string): Promise<void> {
  const { files } = nodePlatform
  const present = await files.read(path)
  if (present === undefined || new TextDecoder().decode(present) !== content) await files.write(path, content)
}
