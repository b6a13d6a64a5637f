// A cluster in the hands of a test: its time, its faults, its past, and what happened in it.
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

/** All that a cluster needs to go on from there: what is stored, the time, and where chance stood. */
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
  /** Set where it listens. */
  readonly served: ServedCluster | undefined
  /** Whether time passes by itself. */
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
  /** Lets things go wrong. */
  readonly faults: Faults
  /** Names of the parts that can be killed and started again. */
  readonly components: readonly string[]
  readonly #deps: TestClusterDeps
  /** What the probe of `until` has read since it was called last. */
  #read: ApiObject[] = []

  /** @internal */
  constructor(deps: TestClusterDeps) {
    this.#deps = deps
    this.client = this.#clientOf(adminUser)
    this.clock = deps.clock
    this.faults = deps.faults
    this.components = [...deps.cluster.components.keys()]
  }

  /** Where the cluster listens. */
  get url(): string {
    return this.#served().url
  }

  /** The kubeconfig of its administrator, as text. */
  get kubeconfig(): string {
    return this.#served().kubeconfig
  }

  /** A client of another user: its rights are those of its roles and bindings. */
  as(user: string, groups: readonly string[] = groupsOf(user)): Client {
    return this.#clientOf(userWithName(user, groups))
  }

  kill(component: string): Promise<void> {
    return this.#deps.cluster.component(component).kill()
  }

  start(component: string): void {
    this.#deps.cluster.component(component).start()
  }

  /** A node is gone at once, with all that ran on it; `start('kubelet/<node>')` brings it back, empty. */
  powerOff(node: string): Promise<void> {
    return this.#deps.cluster.powerOff(node)
  }

  /** A node goes down in good order: its pods end first, where its kubelet was told to give them time. Resolves when it is off. */
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
   * As after a crash: what was stored is there, watches end with 410, and every component starts again from state. The API
   * answers when it resolves; the others start in the next turn of the event loop, before time moves on.
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
   * Lets time pass until the probe returns something other than undefined or false; returns that. When the limit passes,
   * the error tells the last value, the last object that the probe read, and its flow.
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

  /** The life of an object as text, with causes. It fails where nothing was recorded: the name may be wrong. */
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

  /** Undefined where nothing was recorded. */
  #flowText(object: FlowObject, options: DiagramOptions = { fold: true }): string | undefined {
    const life = flowTreesOf(this.#deps.cluster.flow.events(), object)
    return life.length === 0 ? undefined : textDiagram(life, options)
  }

  /** What an object waits for and what was tried, as text. */
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

  /** Server-side apply of YAML or of objects, one after the other; the objects as they are then. */
  async apply(manifest: Manifest, options: ApplyOptions = {}): Promise<ApiObject[]> {
    const applied: ApiObject[] = []
    for (const { kind, object } of await manifestObjects(manifest))
      applied.push(await this.client.of(kind).apply(object, options))
    return applied
  }

  /** What a container of a pod has printed. */
  logs(pod: string, options: LogOptions = {}): Promise<string> {
    return podLogs(this.#transport(), pod, options, newContext())
  }

  /** Runs a command in a container of a pod: what the image's `onCommand` or the simulation's `command` makes of it. */
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

  /** Time that stands still would never end a write to a slow store: it moves on while somebody waits for the write. */
  #awaitCall<T>(call: Promise<T>, what: string): Promise<T> {
    const { faults, isFlowing } = this.#deps
    const { commitMs } = faults
    if (isFlowing || commitMs === 0) return call
    const why = `faults.slowStore(${commitMs}) makes each write take ${commitMs} ms; faults.heal() ends that`
    return this.#untilDone(call, what, why)
  }

  /** Lets time pass until what the cluster works on is done. */
  async #untilDone<T>(work: Promise<T>, what: string, whyNot: string): Promise<T> {
    let isDone = false
    const done = work.finally(() => (isDone = true))
    done.catch(() => {}) // whoever waits hears of it, and nobody does once the limit has passed
    if (await this.clock.runUntil(() => isDone, callLimit)) return done
    throw new Error(`${what} did not end within ${callLimit} of the cluster's time: ${whyNot}`)
  }

  #served(): ServedCluster {
    const { served } = this.#deps
    if (served === undefined) throw new Error('the cluster listens nowhere: startCluster({ https: true })')
    return served
  }
}

/** Waits until the API of a cluster that was started answers. */
export async function untilReady(cluster: Cluster, clock: VirtualClock): Promise<void> {
  let isReady = false
  void cluster.ready.then(() => (isReady = true))
  if (!(await clock.runUntil(() => isReady, readyLimit)))
    throw new Error(`the cluster was not ready after ${readyLimit} of its own time`)
}

/** What everybody of that kind belongs to. */
function groupsOf(user: string): readonly string[] {
  const [, account] = /^system:serviceaccount:([^:]+):/.exec(user) ?? []
  const accounts = account === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${account}`]
  return [...accounts, 'system:authenticated']
}

/** Names the object that was asked for, and those of its kind that were recorded and have a similar name. */
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
