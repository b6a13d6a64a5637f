// startCluster(): a whole cluster in a test: memory store, simulated nodes, all controllers, virtual time.
import type { Clock } from '../base/clock.ts'
import { silentLog, type Log } from '../base/log.ts'
import { seededRandom } from '../base/random.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import type { Kind } from '../api/kind.ts'
import type { Client } from '../client/client.ts'
import { lifeOf } from '../flows/flow-graph.ts'
import { textDiagram } from '../flows/text-diagram.ts'
import type { SimulatedRuntimeOptions } from '../machine/runtime/simulated.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../scheduler/configuration.ts'
import { MemoryStore } from '../store/memory.ts'
import { Cluster } from './cluster.ts'
import { adminUser } from './identities.ts'
import { lazySigner } from './pki.ts'
import { clusterPolicies } from './policies.ts'

export interface StartClusterOptions {
  /** Simulated nodes; 1 when left out. */
  readonly nodes?: number
  /** How many controller managers run; of several one leads. 1 when left out. */
  readonly controllerManagers?: number
  /** The same seed gives the same run. */
  readonly seed?: number
  /** Container images as functions, and how long they take to be pulled and started. */
  readonly simulation?: SimulatedRuntimeOptions
  readonly log?: Log
  /** Profiles, plugins and extenders of the scheduler; the defaults when left out. */
  readonly schedulerConfiguration?: SchedulerConfiguration
}

export interface TestCluster extends AsyncDisposable {
  readonly client: Client
  readonly clock: VirtualClock
  /** Names of the parts that can be killed and started again. */
  readonly components: readonly string[]
  kill(component: string): Promise<void>
  start(component: string): void
  /** The life of an object as text, with causes. */
  flow(kind: Kind, name: string, namespace?: string): string
  stop(): Promise<void>
}

const readyLimit = '1m'

export async function startCluster({
  nodes = 1,
  controllerManagers = 1,
  seed = 1,
  simulation = {},
  log = silentLog,
  schedulerConfiguration = {},
}: StartClusterOptions = {}): Promise<TestCluster> {
  const clock = new VirtualClock()
  const store = new MemoryStore(clock)
  const random = seededRandom(seed)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies } = clusterPolicies({ clock, random: random.fork('policies'), platform: nodePlatform, accountKey })
  const cluster = new Cluster({
    clock: clock satisfies Clock,
    random,
    log,
    store,
    policies,
    nodes,
    controllerManagers,
    controllerSettings: {
      signer: lazySigner({ clock, random: random.fork('authority'), crypto: nodePlatform.crypto }),
    },
    simulation,
    schedulerConfiguration,
  })
  let isReady = false
  void cluster.ready.then(() => (isReady = true))
  cluster.start()
  if (!(await clock.runUntil(() => isReady, readyLimit))) {
    await cluster.stop()
    throw new Error(`the cluster was not ready after ${readyLimit} of its own time`)
  }
  await clock.settle()
  const component = (name: string) => {
    const found = cluster.components.get(name)
    if (found === undefined)
      throw new Error(
        `there is no component ${JSON.stringify(name)}; there are ${[...cluster.components.keys()].join(', ')}`,
      )
    return found
  }
  const stop = () => cluster.stop()
  return {
    client: cluster.client('test', adminUser),
    clock,
    components: [...cluster.components.keys()],
    kill: (name) => component(name).kill(),
    start: (name) => component(name).start(),
    flow: (kind, name, namespace = 'default') =>
      textDiagram(
        lifeOf(cluster.flow.events(), { resource: kind.plural, namespace: kind.namespaced ? namespace : '', name }),
      ),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
