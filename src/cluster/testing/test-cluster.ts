// TestCluster: a cluster under the control of a test: time, faults, snapshots, and the recorded flows.
import { durationMs, realClock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import type { FlowEvent, FlowObject } from '../../base/observability/flow-recorder.ts'
import type { RandomState, SeededRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Kind, ResourceType } from '../../api/kind/kind.ts'
import { kinds } from '../../api/kinds.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { userWithName, type User } from '../../apiserver/request/request.ts'
import { Client, type ApplyOptions } from '../../client/client.ts'
import { flowTreesOf } from '../../flows/flow-graph.ts'
import { missingObjectText } from '../../flows/missing-object.ts'
import { textDiagram, type DiagramOptions } from '../../flows/text-diagram.ts'
import { why } from '../../flows/why/why.ts'
import type { MemorySnapshot, MemoryStore } from '../../store/memory-store.ts'
import type { Cluster } from '../run/cluster.ts'
import type { DirectTransport } from '../client/direct-transport.ts'
import type { Faults } from './faults.ts'
import { adminUser } from '../client/component-users.ts'
import { IsolatedTransport } from './isolated-transport.ts'
import { manifestObjects, type Manifest } from './manifest.ts'
import { podExec, podLogs, type ContainerOptions, type ExecOutput, type LogOptions } from './pod-access.ts'
import type { ServedCluster } from '../run/serve.ts'
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
  /** Set when it listens on a port. */
  readonly served: ServedCluster | undefined
  /** Whether time flows. */
  readonly isFlowing: boolean
  readonly stop: () => Promise<void>
}

type UntilProbe<T> = () => Promise<T | undefined | false> | T | undefined | false

const readyLimit = '1m'
const untilLimit = '1m'
const shutDownLimit = '1h'
const callLimit = '1h'
const untilStepMs = 100
const probeEveryMs = 10

export class TestCluster implements AsyncDisposable {
  readonly client: Client
  readonly clock: VirtualClock
  /** Injects faults. */
  readonly faults: Faults
  /** Names of the components that can be killed and started. */
  readonly components: readonly string[]
  readonly #deps: TestClusterDeps
  /** The objects that the probe of `until` has read in its last call. */
  #read: ApiObject[] = []

  /** @internal */
  constructor(deps: TestClusterDeps) {
    this.#deps = deps
    this.client = this.#clientOf(adminUser)
    this.clock = deps.clock
    this.faults = deps.faults
    this.components = [...deps.cluster.components.keys()]
  }

  /** The URL of the API server. */
  get url(): string {
    return this.#served().url
  }

  /** The admin kubeconfig as text. */
  get kubeconfig(): string {
    return this.#served().kubeconfig
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
    await cluster.crash()
    faults.heal()
    clock.turnTo(snapshot.nowMs)
    random.restore(snapshot.random)
    store.restore(snapshot.store)
    cluster.startServer()
    await untilReady(cluster, clock)
    cluster.startOthersNextTurn()
  }

  /**
   * Advances time until the probe returns something other than undefined or false; returns that. At the limit, the
   * error has the last value, the last object that the probe read, and its flow.
   */
  async until<T>(probe: UntilProbe<T>, limit: string | number = untilLimit): Promise<T> {
    const { clock, isFlowing } = this.#deps
    const untilMs = clock.nowMs() + durationMs(limit)
    for (;;) {
      this.#read = []
      const found = await probe()
      if (found !== undefined && found !== false) return found
      if (clock.nowMs() >= untilMs) {
        const flow = (object: ApiObject) => this.#flowText(flowObjectOf(object)) ?? 'nothing is recorded about it'
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
      : flowObjectOf(about)
    const text = this.#flowText(object, options)
    if (text === undefined) throw new Error(nothingRecorded(object, [...this.#deps.cluster.flow.events()]))
    return text
  }

  /** Undefined when nothing was recorded. */
  #flowText(object: FlowObject, options: DiagramOptions = { fold: true }): string | undefined {
    const life = flowTreesOf(this.#deps.cluster.flow.events(), object)
    return life.length === 0 ? undefined : textDiagram(life, options)
  }

  /** Explains what an object waits for and what was tried, as text. */
  why(object: ApiObject): Promise<string>
  why(kind: ResourceType, name: string, namespace?: string): Promise<string>
  async why(about: ResourceType | ApiObject, name = '', namespace = 'default'): Promise<string> {
    const { client, clock } = this
    const [kind, wanted] = isKind(about) ? [about as Kind, { namespace, name }] : [kindOf(about), about.metadata]
    const object = await client.of(kind).get(wanted.name, kind.namespaced ? (wanted.namespace ?? '') : '')
    const { waits, tried, summary } = await why(
      kind,
      object,
      {
        list: async (of, home) => (await client.of(of).list(home === '' ? {} : { namespace: home })).items,
        find: (of, home, each) => client.of(of).find(each, home),
        nowMs: clock.nowMs(),
      },
      [...this.#deps.cluster.flow.events()],
    )
    const told = tried.length === 0 ? [] : ['', 'What was tried:', ...tried.map((line) => `  ${line}`)]
    const sentences = waits.length === 0 ? [summary] : waits
    return [`${kind.singular}/${wanted.name}`, ...sentences.map((line) => `  ${line}`), ...told, ''].join('\n')
  }

  /** Applies YAML or objects server-side, in order; returns the resulting objects. */
  async apply(manifest: Manifest, options: ApplyOptions = {}): Promise<ApiObject[]> {
    const applied: ApiObject[] = []
    for (const { kind, object } of await manifestObjects(manifest))
      applied.push(await this.client.of(kind).apply(object, options))
    return applied
  }

  /** The output of a pod's container. */
  logs(pod: string, options: LogOptions = {}): Promise<string> {
    return podLogs(this.#transport(), pod, options, newContext())
  }

  /** Runs a command in a pod's container: the image's `onCommand` or the simulation's `command` implements it. */
  exec(pod: string, command: readonly string[], options: ContainerOptions = {}): Promise<ExecOutput> {
    const running = podExec(this.#transport(), pod, command, options, newContext())
    return this.#deps.isFlowing ? running : this.#untilDone(running, `exec in pod ${pod}`, 'the command has not ended')
  }

  stop(): Promise<void> {
    return this.#deps.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #clientOf(user: User): Client {
    return new Client(
      new IsolatedTransport(this.#transport(user), {
        awaitCall: (call, what) => this.#awaitCall(call, what),
        onRead: (objects) => (this.#read = [...objects]),
      }),
    )
  }

  #transport(user = adminUser): DirectTransport {
    return this.#deps.cluster.transport('test', user)
  }

  /** Advances virtual time during a call, because a write to a slow store would otherwise never end. */
  #awaitCall<T>(call: Promise<T>, what: string): Promise<T> {
    const { faults, isFlowing } = this.#deps
    const { commitMs } = faults
    if (isFlowing || commitMs === 0) return call
    const why = `faults.slowStore(${commitMs}) makes each write take ${commitMs} ms; faults.heal() ends that`
    return this.#untilDone(call, what, why)
  }

  /** Advances time until the work is done. */
  async #untilDone<T>(work: Promise<T>, what: string, whyNot: string): Promise<T> {
    let isDone = false
    const done = work.finally(() => (isDone = true))
    done.catch(() => {}) // the caller gets the error; it is ignored after the limit
    if (await this.clock.runUntil(() => isDone, callLimit)) return done
    throw new Error(`${what} did not end within ${callLimit} of the cluster's time: ${whyNot}`)
  }

  #served(): ServedCluster {
    const { served } = this.#deps
    if (served === undefined) throw new Error('the cluster listens nowhere: startCluster({ https: true })')
    return served
  }
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

/** Names the object, and recorded objects of its kind with a similar name. */
function nothingRecorded({ resource, namespace, name }: FlowObject, events: readonly FlowEvent[]): string {
  const kind = kinds.find(({ plural }) => plural === resource)
  const isOther = (object: FlowObject) => object.name !== name || object.namespace !== namespace
  const known = events.flatMap(({ object }) => (object?.resource === resource && isOther(object) ? [object] : []))
  const about = { namespace, name }
  return kind === undefined
    ? `unknown resource ${resource}`
    : missingObjectText(kind, about, known, 'has no recorded flow')
}

const isKind = (about: ResourceType | ApiObject): about is ResourceType => 'plural' in about

function kindOf({ apiVersion, kind }: ApiObject): Kind {
  const found = kinds.find((each) => each.kind === kind && each.apiVersion === apiVersion)
  if (found === undefined) throw new Error(`there is no kind ${kind} in ${apiVersion}`)
  return found
}

const flowObjectOf = (object: ApiObject): FlowObject => {
  const { name, namespace = '' } = object.metadata
  return { resource: kindOf(object).plural, namespace, name }
}

const newContext = () => context(new AbortController().signal)
