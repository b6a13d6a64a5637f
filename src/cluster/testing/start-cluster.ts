// startCluster(): a whole cluster in a test: memory store, simulated nodes, all controllers, virtual time.
import { realClock } from '../../base/time/clock.ts'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { seededRandom, type SeededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import type { SimulatedRuntimeOptions } from '../../machine/runtime/simulated-runtime.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { Cluster } from '../run/cluster.ts'
import { Faults, FaultyStore } from './faults.ts'
import { kubeletSettings, type KubeletFlagValues } from '../flags/kubelet-flags.ts'
import { lazySigner, temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { serve } from '../run/serve.ts'
import { TestCluster, untilReady } from './test-cluster.ts'

export type { TestCluster } from './test-cluster.ts'

export interface StartClusterOptions {
  /** Simulated nodes; 1 when left out. */
  readonly nodes?: number
  /** How many controller managers run; of several one leads. 1 when left out. */
  readonly controllerManagers?: number
  /** The same seed gives the same run. */
  readonly seed?: number
  /**
   * virtual: time moves only when the test says so, and the same seed gives the same run; flowing: it goes along with the
   * machine's, for operators that reach the cluster over HTTPS, and can be moved on by hand all the same.
   */
  readonly time?: 'virtual' | 'flowing'
  /** Whether the cluster also listens on a port of loopback; when left out, where time flows. */
  readonly https?: boolean
  /** Container images as functions, and how long they take to be pulled and started. */
  readonly simulation?: SimulatedRuntimeOptions
  /** Flags of `coxswain up` that say how kubelets look after their nodes: `{ 'shutdown-grace-period': '30s' }`. */
  readonly kubeletFlags?: KubeletFlagValues
  readonly log?: Log
  /** Profiles, plugins and extenders of the scheduler; the defaults when left out. */
  readonly schedulerConfiguration?: SchedulerConfiguration
}

export async function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  const { nodes = 1, controllerManagers = 1, seed = 1, time = 'virtual', https = time === 'flowing' } = options
  const { simulation = {}, kubeletFlags = {}, log = silentLog, schedulerConfiguration = {} } = options
  const isFlowing = time === 'flowing'
  const clock = isFlowing ? new VirtualClock(realClock.nowMs()) : new VirtualClock()
  const faults = new Faults()
  const store = new FaultyStore(clock, faults)
  const random = seededRandom(seed)
  const { certificates, accountKey, signing } = https ? shownKeys(random) : ownKeys(clock, random)
  const policyParts = { clock, random: random.fork('policies'), platform: nodePlatform, accountKey }
  const { policies, tokenUses, close } = buildRequestPolicies(policyParts)
  const cleanUps = new AsyncDisposableStack()
  cleanUps.defer(close)
  const cluster = new Cluster({
    ...{ clock, random, log, store, policies, nodes, controllerManagers, simulation, schedulerConfiguration, faults },
    tokenUses,
    kubeletSettings: kubeletSettings(kubeletFlags),
    advertisesAddOns: true,
    controllerSettings: { ...signing, legacyTokens: legacyTokenIssuer(accountKey, nodePlatform.crypto) },
  })
  cleanUps.defer(() => cluster.stop())
  try {
    cluster.start()
    await untilReady(cluster, clock)
    await clock.settle()
    const serveParts = { host: '127.0.0.1', port: 0, platform: nodePlatform, clock, log }
    const served = certificates && (await serve(cluster, { ...serveParts, certificates }))
    cleanUps.defer(() => served?.close(0))
    if (isFlowing) {
      const flowing = clock.follow(realClock)
      cleanUps.defer(() => flowing.cancel())
    }
    const stop = () => cleanUps.disposeAsync()
    return new TestCluster({ cluster, clock, random, store, faults, served, isFlowing, stop })
  } catch (error) {
    await cleanUps.disposeAsync()
    throw error
  }
}

/** What a cluster signs with that others connect to. They check certificates by the machine's time. */
function shownKeys(random: SeededRandom) {
  const deps = { platform: nodePlatform, clock: realClock, random: random.fork('pki'), hosts: [] }
  const certificates = temporaryCertificates(deps)
  const { accountKey, authority, signer } = certificates
  return { certificates, accountKey, signing: { authority, signer } }
}

/** Where nobody speaks TLS there are no certificates, and the signer's authority is made when it is first asked. */
function ownKeys(clock: VirtualClock, random: SeededRandom) {
  const { crypto } = nodePlatform
  const signer = lazySigner({ clock, random: random.fork('authority'), crypto })
  return { certificates: undefined, accountKey: crypto.generateKey(), signing: { signer } }
}
