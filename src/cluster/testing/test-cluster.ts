// TestCluster: a cluster under the control of a test: time, faults, snapshots, and the recorded flows.
import { shownArgument } from '../../base/check-arguments.ts'
import { durationMs, realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import type { FlowObject } from '../../base/observability/flow-recorder.ts'
import type { RandomState, SeededRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { VirtualClock } from '../../base/time/virtual-clock.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Kind, ResourceType } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { userWithName, type User } from '../../apiserver/request/request.ts'
import { Client, type ApplyOptions } from '../../client/client.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { textDiagram, type DiagramOptions } from '../../flows/text-diagram.ts'
import { podLog, type LogOptions } from '../../client/pod-log.ts'
import { readerOf } from '../../flows/why/explainer/cluster-reader.ts'
import { explanationLines, explanationText } from '../../flows/why/explanation-text.ts'
import { why } from '../../flows/why/why.ts'
import type { MemorySnapshot, MemoryStore } from '../../store/memory-store.ts'
import type { Cluster } from '../run/cluster.ts'
import type { DirectTransport } from '../client/direct-transport.ts'
import type { CallAwaiter } from './call-awaiter.ts'
import type { Faults } from './faults.ts'
import { adminUser } from '../client/component-users.ts'
import { IsolatedTransport } from '../client/isolated-transport.ts'
import type { StorageControl } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import type { CloudControl } from '../../cloud/simulated/simulated-cloud.ts'
import { untilEstablished } from '../manifests/until-established.ts'
import { establishDefinitions } from './establish-definitions.ts'
import { explainReach, type WhyOptions } from './explanations.ts'
import type { ManifestObject } from '../manifests/manifest.ts'
import { readManifest, type ManifestSource } from './manifest-source.ts'
import { podExec, type ContainerOptions, type ExecOutput } from './pod-access.ts'
import type { SourcedDefinition } from './read-definitions.ts'
import type { ServedCluster } from '../run/serve.ts'
import type { RecordedRun } from '../../ui/page/source/recorded.ts'
import { isReadyObject } from './ready-object.ts'
import { recordRun, writeReport } from './cluster-report.ts'
import { ServedKinds } from './served-kinds.ts'
import { TestNetwork } from './test-network.ts'
import { untilFailureText } from './until-failure.ts'

/** The state of a cluster: its store, time and random sources. */
export interface ClusterSnapshot {
  /** @internal */
  readonly store: MemorySnapshot
  readonly nowMs: number
  /** @internal */
  readonly random: RandomState
}

export interface TestClusterDeps {
  readonly cluster: Cluster
  readonly clock: VirtualClock
  readonly random: SeededRandom
  readonly store: MemoryStore
  readonly faults: Faults
  readonly calls: CallAwaiter
  readonly csi: StorageControl | undefined
  readonly cloud: CloudControl | undefined
  /** Set when it listens on a port. */
  readonly served: ServedCluster | undefined
  /** Whether time flows. */
  readonly isFlowing: boolean
  readonly stop: () => Promise<void>
}

type UntilProbe<T> = () => Promise<T | undefined | false> | T | undefined | false

export interface ReadyOptions {
  /** `default` when left out. */
  readonly namespace?: string
  /** How much of the cluster's time may pass; `1m` when left out. */
  readonly within?: string | number
}

export interface Until {
  /**
   * Advances time until the probe returns something other than undefined or false; returns that. At the limit, the
   * error has the last value, the last object that the probe read, and its flow.
   */
  <T>(probe: UntilProbe<T>, limit?: string | number): Promise<T>
  /**
   * Advances time until the object exists and is ready: a workload is rolled out, a pod is ready, a Job is complete, a claim is
   * bound; others have no condition that denies it. Returns the object. The error explains what it waits for.
   */
  ready<T extends ApiObject>(kind: ResourceType<T>, name: string, options?: ReadyOptions): Promise<T>
}

const readyLimit = '1m'
const untilLimit = '1m'
const shutDownLimit = '1h'
const untilStepMs = 100
const probeEveryMs = 10

export class TestCluster implements AsyncDisposable {
  readonly client: Client
  readonly clock: VirtualClock
  /** Injects faults. */
  readonly faults: Faults
  /** Calls the application in the cluster's pods. */
  readonly network: TestNetwork
  /** Names of the components that can be killed and started. */
  readonly components: readonly string[]
  /** Advances time until something is so. */
  readonly until: Until
  readonly #deps: TestClusterDeps
  readonly #kinds: ServedKinds
  /** The objects that the probe of `until` has read in its last call. */
  #read: ApiObject[] = []
  /** The title of a report that may be written after the cluster was stopped. */
  #reportTitle: string | undefined
  #recorded: RecordedRun | undefined

  /** @internal */
  constructor(deps: TestClusterDeps) {
    this.#deps = deps
    this.#kinds = new ServedKinds(() => deps.cluster.server)
    this.client = this.#clientOf(adminUser)
    this.clock = deps.clock
    this.faults = deps.faults
    this.network = new TestNetwork({
      network: deps.cluster.network,
      clock: deps.clock,
      pod: (namespace, name) => deps.cluster.server?.registry.cached(pod, namespace, name),
      awaitCall: (work, what, whyNot) => deps.calls.untilDone(work, what, whyNot),
    })
    this.components = [...deps.cluster.components.keys()]
    this.until = Object.assign(<T>(probe: UntilProbe<T>, limit?: string | number) => this.#until(probe, limit), {
      ready: <T extends ApiObject>(kind: ResourceType<T>, name: string, options?: ReadyOptions) =>
        this.#untilReady(kind, name, options),
    })
  }

  /** The storage driver, if the cluster was started with `csi`. */
  get csi(): StorageControl {
    const { csi } = this.#deps
    if (csi === undefined) throw new Error('the cluster was started without the option csi')
    return csi
  }

  /** The simulated cloud, if the cluster was started with `cloud`. */
  get cloud(): CloudControl {
    const { cloud } = this.#deps
    if (cloud === undefined) throw new Error('the cluster was started without the option cloud')
    return cloud
  }

  /** The URL of the API server. */
  get url(): string {
    return this.#listening().url
  }

  /** The admin kubeconfig as text. */
  get kubeconfig(): string {
    return this.#listening().kubeconfig
  }

  /** A client of another user, with the permissions of its roles and bindings. */
  as(user: string, groups: readonly string[] = groupsOf(user)): Client {
    return this.#clientOf(userWithName(user, groups))
  }

  kill(component: string): Promise<void> {
    return this.#deps.cluster.component(component).kill()
  }

  start(component: string): void {
    this.#deps.cluster.component(component).start()
  }

  /** Removes a node at once, with everything on it. `start('kubelet/<node>')` brings it back, empty. */
  powerOff(node: string): Promise<void> {
    return this.#deps.cluster.powerOff(node)
  }

  /** Shuts a node down: its pods end first, within the kubelet's shutdown grace period. Resolves when it is off. */
  async shutDown(node: string): Promise<void> {
    const { cluster, clock, isFlowing } = this.#deps
    let isOff = false
    const off = cluster.shutDown(node).finally(() => (isOff = true))
    if (!isFlowing && !(await clock.runUntil(() => isOff, shutDownLimit)))
      throw new Error(`${node} was not off after ${shutDownLimit} of the cluster's time`)
    await off
  }

  snapshot(): ClusterSnapshot {
    const { store, clock, random } = this.#deps
    return { store: store.snapshot(), nowMs: clock.nowMs(), random: random.save() }
  }

  /**
   * Restores a snapshot, as after a crash: watches end with 410, and every component starts again. The API is ready
   * when it resolves; the other components start in the next turn of the event loop, before time advances.
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    const { cluster, store, clock, random, faults } = this.#deps
    checkSnapshot(snapshot)
    await cluster.crash()
    faults.heal()
    clock.turnTo(snapshot.nowMs)
    random.restore(snapshot.random)
    store.restore(snapshot.store)
    cluster.startServer()
    await untilReady(cluster, clock)
    cluster.startOthersNextTurn()
  }

  async #untilReady<T extends ApiObject>(
    kind: ResourceType<T>,
    name: string,
    { namespace = 'default', within = untilLimit }: ReadyOptions = {},
  ): Promise<T> {
    const objects = this.client.of(kind)
    let found: T | undefined
    try {
      return await this.#until(async () => {
        found = await objects.find(name, kind.namespaced ? namespace : '')
        return found !== undefined && isReadyObject(found) ? found : undefined
      }, within)
    } catch (error) {
      const named = `${kind.singular}/${name}`
      if (found === undefined)
        throw new Error(`${named} does not exist after ${within} of the cluster's time`, { cause: error })
      const reasons = await this.why(kind, name, namespace)
      throw new Error(`${named} is not ready after ${within} of the cluster's time\n\n${reasons}`, { cause: error })
    }
  }

  async #until<T>(probe: UntilProbe<T>, limit: string | number = untilLimit): Promise<T> {
    const { clock, isFlowing } = this.#deps
    const untilMs = clock.nowMs() + durationMs(limit)
    for (;;) {
      this.#read = []
      const found = await probe()
      if (found !== undefined && found !== false) return found
      if (clock.nowMs() >= untilMs) {
        const flow = (object: ApiObject) => this.#flowText(this.#flowObjectOf(object)) ?? 'nothing is recorded about it'
        throw new Error(untilFailureText({ limit, value: found, read: this.#read, flow }))
      }
      if (isFlowing) await realClock.sleep(probeEveryMs, new AbortController().signal)
      else await clock.advance(untilStepMs)
      await eventLoopTurn()
    }
  }

  /**
   * The recorded lifecycle of an object as text, with causes. Throws when nothing was recorded, since the name may be
   * wrong.
   */
  flow(object: ApiObject): string
  flow(kind: ResourceType, name: string, namespace?: string, options?: DiagramOptions): string
  flow(
    about: ResourceType | ApiObject,
    name = '',
    namespace = 'default',
    options: DiagramOptions = { fold: true },
  ): string {
    const object = isKind(about)
      ? { resource: about.plural, namespace: about.namespaced ? namespace : '', name }
      : this.#flowObjectOf(about)
    const text = this.#flowText(object, options)
    if (text === undefined) throw new Error(this.#nothingRecorded(object))
    return text
  }

  /** Undefined when nothing was recorded. */
  #flowText(object: FlowObject, options: DiagramOptions = { fold: true }): string | undefined {
    const life = flowTreesOf(this.#deps.cluster.flow.events(), object)
    return life.length === 0 ? undefined : textDiagram(life, options)
  }

  /** Explains what an object waits for and what was tried, as text; with `reach`, whether a pod reaches a target. */
  why(object: ApiObject): Promise<string>
  why(kind: ResourceType, name: string, namespace?: string, options?: WhyOptions): Promise<string>
  async why(
    about: ResourceType | ApiObject,
    name = '',
    namespace = 'default',
    options: WhyOptions = {},
  ): Promise<string> {
    const { client } = this
    if (options.reach !== undefined) return explainReach(client, { namespace, name }, options.reach, this.clock.nowMs())
    const [kind, wanted] = isKind(about)
      ? [this.#kinds.ofType(about), { namespace, name }]
      : [this.#kinds.ofObject(about), about.metadata]
    const object = await client.of(kind).get(wanted.name, kind.namespaced ? (wanted.namespace ?? '') : '')
    return explanationText(`${kind.singular}/${wanted.name}`, await this.#explain(kind, object))
  }

  #explain(kind: Kind, object: ApiObject): ReturnType<typeof why> {
    const around = readerOf(this.client, newContext(), { nowMs: this.clock.nowMs() })
    return why(kind, object, around, [...this.#deps.cluster.flow.events()])
  }

  /**
   * Applies YAML, objects or files (`manifests/*.yaml`) server-side; returns the resulting objects in their order. CustomResourceDefinitions are
   * applied first and established before the others, so that a manifest may also contain objects of the kinds that it
   * defines.
   */
  async apply(manifest: ManifestSource, options: ApplyOptions = {}): Promise<ApiObject[]> {
    const objects = await readManifest(manifest)
    const applied = new Map<ManifestObject, ApiObject>()
    const applyAll = async (some: readonly ManifestObject[]) => {
      const known = some.map((object) => ({ object, kind: this.#kinds.ofObject(object) }))
      for (const { object, kind } of known) applied.set(object, await this.client.of(kind).apply(object, options))
    }
    const { definitions = [], others = [] } = Object.groupBy(objects, (object) =>
      isDefinition(object) ? 'definitions' : 'others',
    )
    await applyAll(definitions)
    if (definitions.length > 0) await this.#establish(definitions)
    await applyAll(others)
    return objects.map((object) => applied.get(object) as ApiObject)
  }

  async #establish(definitions: readonly ManifestObject[]): Promise<void> {
    const names = definitions.map(({ metadata: { name = '' } = {} }) => name)
    const sources = new Map(names.map((name) => [name, customResourceDefinition.kind]))
    const established = untilEstablished(new Client(this.#transport()), sources, newContext())
    await this.#deps.calls.request(established, `establishing ${names.join(', ')}`)
  }

  /** The output of a pod's container. */
  logs(podName: string, options: LogOptions = {}): Promise<string> {
    return podLog(new Client(this.#transport()), podName, options, newContext())
  }

  /** Runs a command in a pod's container: the image's `onCommand` or the simulation's `command` implements it. */
  exec(podName: string, command: readonly string[], options: ContainerOptions = {}): Promise<ExecOutput> {
    const running = podExec(this.#transport(), podName, command, options, newContext())
    return this.#deps.calls.untilDone(running, `exec in pod ${podName}`, () => 'the command has not ended')
  }

  /**
   * Writes an HTML file with the web page over everything that is recorded: flows, objects with their history,
   * explanations and scheduling decisions. It opens without a server. The values of Secrets are left out.
   */
  async report(file: string, title = 'Coxswain', failure?: string): Promise<void> {
    const run = this.#recorded ?? (await this.#recordRun(title))
    await writeReport(file, failure === undefined ? run : { ...run, failure })
  }

  /** Records what a report needs when the cluster is stopped, so that it can be written afterwards. @internal */
  recordBeforeStop(title: string): void {
    this.#reportTitle = title
  }

  async stop(): Promise<void> {
    if (this.#reportTitle !== undefined && this.#recorded === undefined)
      this.#recorded = await this.#recordRun(this.#reportTitle)
    await this.#deps.stop()
  }

  #recordRun(title: string): Promise<RecordedRun> {
    const { cluster, clock } = this.#deps
    const client = this.client
    return recordRun(
      {
        kinds: this.#kinds.all(),
        flow: cluster.flow,
        list: async (kind) => (await client.of(kind).list({})).items,
        why: async (object) => {
          const explained = await this.#explain(this.#kinds.ofObject(object), object)
          return explained.waits.length === 0 ? [] : explanationLines(explained)
        },
        decision: (podKey) => cluster.decisions.explain(podKey),
        nowMs: clock.nowMs(),
        changes: (kind) => (kind.computed === undefined ? (cluster.server?.registry.changes(kind) ?? []) : []),
        retained: cluster.server && {
          oldest: cluster.server.registry.oldestRevision,
          newest: this.#deps.store.revision,
        },
      },
      title,
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #clientOf(user: User): Client {
    return new Client(
      new IsolatedTransport(this.#transport(user), {
        awaitCall: (call, what) => this.#deps.calls.request(call, what),
        onRead: (objects) => (this.#read = [...objects]),
      }),
    )
  }

  /** Creates definitions and waits until they are served. @internal */
  define(definitions: readonly SourcedDefinition[]): Promise<void> {
    return establishDefinitions(this.#transport(), definitions, newContext())
  }

  #transport(user = adminUser): DirectTransport {
    return this.#deps.cluster.transport('test', user)
  }

  #flowObjectOf(object: ApiObject): FlowObject {
    const { name, namespace = '' } = object.metadata
    return { resource: this.#kinds.ofObject(object).plural, namespace, name }
  }

  /** Names the object, and recorded objects of its kind with a similar name. */
  #nothingRecorded({ resource, namespace, name }: FlowObject): string {
    const kind = this.#kinds.all().find(({ plural }) => plural === resource)
    const isOther = (object: FlowObject) => object.name !== name || object.namespace !== namespace
    const known = [...this.#deps.cluster.flow.events()].flatMap(({ object }) =>
      object?.resource === resource && isOther(object) ? [object] : [],
    )
    return kind === undefined
      ? `unknown resource ${resource}`
      : missingObjectText(kind, { namespace, name }, known, 'has no recorded flow')
  }

  #listening(): ServedCluster {
    const { served } = this.#deps
    if (served === undefined) throw new Error('the cluster listens nowhere: startCluster({ https: true })')
    return served
  }
}

/** Before the cluster ends, because nothing could start again. */
function checkSnapshot(snapshot: Partial<ClusterSnapshot>): void {
  const { store, nowMs, random } = snapshot ?? {}
  if (Array.isArray(store?.items) && Number.isFinite(nowMs) && Array.isArray(random?.words)) return
  throw new TypeError('restore: this is no snapshot; cluster.snapshot() makes one')
}

/** Waits until the API of a started cluster is ready. */
export async function untilReady(cluster: Cluster, clock: VirtualClock): Promise<void> {
  let isReady = false
  void cluster.ready.then(() => (isReady = true))
  if (!(await clock.runUntil(() => isReady, readyLimit)))
    throw new Error(`the cluster was not ready after ${readyLimit} of its own time`)
}

/** The groups of every user of that kind. */
function groupsOf(user: string): readonly string[] {
  const [, account] = /^system:serviceaccount:([^:]+):/.exec(user) ?? []
  const accounts = account === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${account}`]
  return [...accounts, 'system:authenticated']
}

function isKind(about: ResourceType | ApiObject): about is ResourceType {
  const { plural, metadata }: Partial<ResourceType & ApiObject> = about ?? {}
  if (typeof plural !== 'string' && typeof metadata?.name !== 'string')
    throw new TypeError(`${shownArgument(about)} is neither a kind, such as deployment, nor an object`)
  return plural !== undefined
}

const isDefinition = ({ apiVersion, kind }: ManifestObject): boolean =>
  apiVersion === customResourceDefinition.apiVersion && kind === customResourceDefinition.kind

const newContext = () => context(new AbortController().signal)
