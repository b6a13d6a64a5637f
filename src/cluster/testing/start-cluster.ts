// startCluster(): a whole cluster in a test: memory store, simulated nodes, all controllers, virtual time.
import { checkOneOf, checkProperties, checkWhole, shownArgument } from '../../base/check-arguments.ts'
import { realClock } from '../../base/time/clock.ts'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { seededRandom, type SeededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { frontProxyDefaults } from '../../apiserver/authentication/front-proxy.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { Authority } from '../../pki/authority.ts'
import { SimulatedCloud, type SimulatedCloudOptions } from '../../cloud/simulated/simulated-cloud.ts'
import { SimulatedStorage, type SimulatedStorageOptions } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import type { SimulatedRuntimeOptions } from '../../machine/runtime/simulated-runtime.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import type { LoadBalancerChoice } from '../flags/load-balancer-flags.ts'
import { Cluster } from '../run/cluster.ts'
import { CallAwaiter } from './call-awaiter.ts'
import { Faults, FaultyApiServer, FaultyStore } from './faults.ts'
import { kubeletSettings, type KubeletFlagValues } from '../flags/kubelet-flags.ts'
import { serviceRangesOf, type ServiceRangeFlagValues } from '../flags/service-ranges.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { serve, type AwaitResponse } from '../run/serve.ts'
import { readDefinitions, type DefinitionSource } from './read-definitions.ts'
import { stepClock } from './step-clock.ts'
import { TestCluster, untilReady } from './test-cluster.ts'

export type { TestCluster } from './test-cluster.ts'

export interface StartClusterOptions {
  /** Simulated nodes; 1 by default. */
  readonly nodes?: number
  /** Controller managers, of which one leads; 1 by default. */
  readonly controllerManagers?: number
  /** The same seed gives the same run. */
  readonly seed?: number
  /**
   * virtual: time advances only on request, and the same seed gives the same run; flowing: time follows the machine's
   * clock, for operators that connect over HTTPS. It can still be advanced.
   */
  readonly time?: 'virtual' | 'flowing'
  /** Whether the cluster also listens on a loopback port; by default if time flows. */
  readonly https?: boolean
  /** Container images as functions, and how long pulling and starting takes. */
  readonly simulation?: SimulatedRuntimeOptions
  /** Kubelet flags of `coxswain up`: `{ 'shutdown-grace-period': '30s' }`. */
  readonly kubeletFlags?: KubeletFlagValues
  /** Flags of Services of `coxswain up`: `{ 'service-cluster-ip-range': '10.96.0.0/16,fd00:96::/112' }`. */
  readonly serviceFlags?: ServiceRangeFlagValues
  /** CustomResourceDefinitions, as values or files, which are established when startCluster resolves. */
  readonly crds?: readonly DefinitionSource[]
  /** A storage driver `csi.coxswain.dev` on every node, with its sidecars: `cluster.csi`. */
  readonly csi?: Omit<SimulatedStorageOptions, 'clock'>
  /**
   * A simulated cloud with load balancers, routes and an instance for every node: `cluster.cloud`. Nodes register with
   * the taint `node.cloudprovider.kubernetes.io/uninitialized`.
   */
  readonly cloud?: SimulatedCloudOptions
  /**
   * `node-addresses`: Services of type LoadBalancer get the addresses of the nodes, as in `coxswain up`;
   * `{ addresses: '192.0.2.200-192.0.2.209' }`: they get addresses of this pool; `none` by default.
   */
  readonly loadBalancers?: LoadBalancerChoice
  /** Whether the kinds of volume snapshots (snapshot.storage.k8s.io/v1) and their controller are installed. */
  readonly volumeSnapshots?: boolean
  /** Whether the kinds of the Gateway API are installed. Simulated pods are not reached through Gateways. */
  readonly gatewayApi?: boolean
  /**
   * Whether there is the default StorageClass `local-path`, whose volumes are directories of the simulated nodes; not by
   * default.
   */
  readonly localPath?: boolean
  readonly log?: Log
  /** Profiles, plugins and extenders of the scheduler. */
  readonly schedulerConfiguration?: SchedulerConfiguration
}

const optionNames: Readonly<Record<keyof StartClusterOptions, true>> = {
  nodes: true,
  controllerManagers: true,
  seed: true,
  time: true,
  https: true,
  simulation: true,
  kubeletFlags: true,
  serviceFlags: true,
  crds: true,
  csi: true,
  cloud: true,
  loadBalancers: true,
  volumeSnapshots: true,
  gatewayApi: true,
  localPath: true,
  log: true,
  schedulerConfiguration: true,
}

const nodesMax = 10_000
const controllerManagersMax = 100

function checkOptions(options: StartClusterOptions): void {
  checkProperties('startCluster', options, optionNames)
  checkWhole('startCluster: nodes', options.nodes, 0, nodesMax)
  checkWhole('startCluster: controllerManagers', options.controllerManagers, 0, controllerManagersMax)
  checkWhole('startCluster: seed', options.seed, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  checkOneOf('startCluster: time', options.time, ['virtual', 'flowing'])
  const { crds = [] } = options
  if (!Array.isArray(crds)) throw new TypeError(`startCluster: crds: ${shownArgument(crds)} is no list`)
}

export const startCluster = (options: StartClusterOptions = {}): Promise<TestCluster> =>
  startClusterAt(realClock.nowMs(), options)

/** `startMs`: when time begins, if it flows. */
export async function startClusterAt(startMs: number, options: StartClusterOptions): Promise<TestCluster> {
  checkOptions(options)
  const { nodes = 1, controllerManagers = 1, seed = 1, time = 'virtual', https = time === 'flowing' } = options
  const {
    crds = [],
    simulation = {},
    kubeletFlags = {},
    serviceFlags = {},
    log = silentLog,
    localPath = false,
    loadBalancers = 'none',
    schedulerConfiguration = {},
    volumeSnapshots: hasVolumeSnapshots = false,
    gatewayApi: hasGatewayApi = false,
  } = options
  const definitions = await readDefinitions(crds)
  const isFlowing = time === 'flowing'
  const clock = isFlowing ? new VirtualClock(startMs) : new VirtualClock()
  const faults: Faults = new Faults((service, address) => cluster.network.isEndpoint(service, address))
  const store = new FaultyStore(clock, faults)
  const calls = new CallAwaiter({ clock, faults, isFlowing })
  const random = seededRandom(seed)
  const csi = options.csi === undefined ? undefined : new SimulatedStorage({ clock, ...options.csi })
  const cloud = options.cloud === undefined ? undefined : new SimulatedCloud({ clock, ...options.cloud })
  const cloudFlags = cloud === undefined ? {} : { 'cloud-provider': 'external' }
  const { certificates, accountKey, signing } = https ? shownKeys(random) : ownKeys(clock, random)
  const policyParts = { clock, random: random.fork('policies'), platform: nodePlatform, accountKey }
  const { policies, tokenUses, accountKeys, close } = buildRequestPolicies(policyParts)
  const cleanUps = new AsyncDisposableStack()
  cleanUps.defer(close)
  const cluster: Cluster = new Cluster({
    clock,
    random,
    log,
    store,
    policies,
    nodes,
    controllerManagers,
    simulation,
    schedulerConfiguration,
    localPath,
    loadBalancers,
    serviceRanges: serviceRangesOf(serviceFlags),
    newApiServer: (deps) => new FaultyApiServer(deps, faults),
    tokenUses,
    linkFaults: faults.links,
    kubeletSettings: kubeletSettings({ ...cloudFlags, ...kubeletFlags }),
    advertisesAddOns: true,
    hasVolumeSnapshots,
    hasGatewayApi,
    csi,
    cloud,
    proxyIdentity: () => certificates?.components['front-proxy-client'],
    ...(isFlowing ? {} : { stepClock: (step) => stepClock(step, clock, cluster.flow) }),
    controllerSettings: { ...signing, legacyTokens: legacyTokenIssuer(accountKeys) },
  })
  cleanUps.defer(() => cluster.stop())
  try {
    cluster.start()
    await untilReady(cluster, clock)
    await clock.settle()
    const awaitResponse: AwaitResponse = (response, { method, target }) =>
      calls.request(response, `${method} ${target}`)
    const serveParts = { host: '127.0.0.1', port: 0, platform: nodePlatform, clock, log, awaitResponse }
    const served = certificates && (await serve(cluster, { ...serveParts, certificates }))
    cleanUps.defer(() => served?.close(0))
    if (certificates !== undefined)
      await cluster.publishAuthorities(certificates, frontProxyDefaults, new AbortController().signal)
    if (isFlowing) {
      const flowing = clock.follow(realClock)
      cleanUps.defer(() => flowing.cancel())
    }
    const stop = () => cleanUps.disposeAsync()
    const testCluster = new TestCluster({
      cluster,
      clock,
      random,
      store,
      faults,
      calls,
      csi,
      cloud,
      served,
      isFlowing,
      stop,
    })
    await testCluster.define(definitions)
    return testCluster
  } catch (error) {
    await cleanUps.disposeAsync()
    throw error
  }
}

/** Advances the time for the web UI: by a duration, or to the next flow event. */
/** Certificates for clusters with a port. Clients verify them by the machine's time. */
function shownKeys(random: SeededRandom) {
  const deps = { platform: nodePlatform, clock: realClock, random: random.fork('pki'), hosts: [] }
  const certificates = temporaryCertificates(deps)
  const { accountKey, authority, signer } = certificates
  return { certificates, accountKey, signing: { certificateAuthority: () => authority, signer } }
}

/** Without a port there are no certificates except that of the authority, which pods mount. */
function ownKeys(clock: VirtualClock, random: SeededRandom) {
  const { crypto } = nodePlatform
  const signer = Authority.create('kubernetes', { clock, random: random.fork('authority'), crypto })
  const signing = { certificateAuthority: () => signer.certificate, signer }
  return { certificates: undefined, accountKey: crypto.generateKey(), signing }
}
