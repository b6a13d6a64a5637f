// Kwok: simulates nodes without kubelets. Stages decide how nodes, pods and the objects of other kinds change, as with upstream's
// kwok-controller.
import type { TaskGroup } from '../base/async/task-group.ts'
import { parseCidr, type Cidr } from '../base/net/cidr.ts'
import { context } from '../base/observability/context.ts'
import { rfc3339Micro } from '../base/time/clock.ts'
import { node, type Node } from '../api/core/v1/node/node.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import type { Kind } from '../api/kind/kind.ts'
import { keyOf, objectKey, type ApiObject } from '../api/meta/object.ts'
import { matchesLabels, type Selector } from '../api/selectors/selectors.ts'
import { discover } from '../client/discovery.ts'
import { Informer } from '../client/informer/informer.ts'
import { startNodeLeases } from './node-leases.ts'
import { PodAddresses } from './pod-addresses.ts'
import { stageKind } from './stages/stage-kind.ts'
import { stagedKind, StageSet, type StagedKind } from './stage-set.ts'
import { StagedObjects, type StagedObjectsDeps } from './staged-objects.ts'
import type { ParseYaml } from './stages/read-stage.ts'
import type { Stage, StageFunctions } from './stages/stage.ts'

/** The annotation of simulated nodes. */
export const kwokAnnotation = 'kwok.x-k8s.io/node'

/** Which nodes are simulated. */
export type NodeSelection =
  | { readonly by: 'all' }
  | { readonly by: 'annotations' | 'labels'; readonly selector: Selector }

export interface KwokSettings {
  readonly nodes: NodeSelection
  /** The stages of files. */
  readonly stages: readonly Stage[]
  /** The address of nodes that have none. */
  readonly nodeIp: string
  /** Addresses of the pods of nodes without a pod range. */
  readonly podRange: Cidr
  readonly version: string
}

export interface KwokDeps extends StagedObjectsDeps {
  readonly parseYaml: ParseYaml
}

const byNode = 'node'
const kindRetryMs = 1_000

export class Kwok {
  readonly #settings: KwokSettings
  readonly #deps: KwokDeps
  readonly #addresses = new PodAddresses()
  readonly #nodes: Informer<Node>
  readonly #pods: Informer<Pod>
  readonly #stages: StageSet
  readonly #objects = new Map<StagedKind, StagedObjects<never>>()
  readonly #functions: StageFunctions

  constructor(settings: KwokSettings, deps: KwokDeps) {
    const { client, clock, parseYaml, log } = deps
    this.#settings = settings
    this.#deps = deps
    this.#nodes = new Informer(node, client.of(node), deps)
    this.#pods = new Informer(pod, client.of(pod), deps)
    this.#pods.addIndex(byNode, ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]))
    this.#stages = new StageSet(settings.stages, parseYaml, log)
    const startTime = rfc3339Micro(clock.nowMs())
    this.#functions = {
      now: () => rfc3339Micro(clock.nowMs()),
      startTime: () => startTime,
      version: () => settings.version,
      nodeIp: () => settings.nodeIp,
      nodeIpWith: (name) => this.#nodeIp(name),
      podIpWith: (nodeName, isInHostNetwork, uid, name, namespace) =>
        isInHostNetwork
          ? this.#nodeIp(nodeName)
          : this.#addresses.addressOf(uid === '' ? objectKey(namespace, name) : uid, this.#podRange(nodeName)),
    }
  }

  /** Starts everything in the tasks. */
  start(tasks: TaskGroup): void {
    const { events, client } = this.#deps
    const isManaged = (object: Node) => this.#isManaged(object)
    this.#pods.onChange(({ now }) => {
      if (now?.status?.podIP !== undefined) this.#addresses.notePresent(now.metadata.uid, now.status.podIP)
    })
    this.#startKind<Node>(tasks, { kind: node, informer: this.#nodes, isManaged })
    const pods = this.#startKind<Pod>(tasks, {
      kind: pod,
      informer: this.#pods,
      isManaged: ({ spec }) => this.#isManagedName(spec.nodeName),
      onRemoved: ({ metadata, status }) => this.#addresses.release(metadata.uid, status?.podIP),
    })
    // A node that is new, or simulated from now on, has pods already.
    this.#nodes.onChange(({ now, before, cause }) => {
      if (now === undefined || !isManaged(now) || (before !== undefined && isManaged(before))) return
      for (const each of this.#pods.byIndex(byNode, now.metadata.name)) pods.add(keyOf(each), cause)
    })
    startNodeLeases({ ...this.#deps, nodes: this.#nodes, isManaged }, tasks)
    tasks.start('events of kwok', (signal) => events.run(signal))
    for (const informer of [this.#nodes, this.#pods])
      tasks.start(`kwok ${informer.kind.plural}`, (signal) => informer.run(signal))
    const stages = new Informer(stageKind, client.of(stageKind), this.#deps)
    stages.onChange(({ key, now }) => {
      for (const kind of this.#stages.set(key, now)) this.#stagesChanged(kind, tasks)
    })
    tasks.start('kwok stages', (signal) => stages.run(signal))
    for (const kind of this.#stages.kinds) this.#stagesChanged(kind, tasks)
  }

  /** Resolves when the nodes and pods that exist are known. */
  async synced(): Promise<void> {
    await Promise.all([this.#nodes.synced, this.#pods.synced])
  }

  #startKind<T extends ApiObject>(
    tasks: TaskGroup,
    of: {
      readonly kind: Kind
      readonly informer: Informer<T>
      readonly isManaged: (object: T) => boolean
      readonly onRemoved?: (object: T) => void
    },
  ): StagedObjects<T> {
    const staged = stagedKind(of.kind)
    const options = { ...of, stages: () => this.#stages.of(staged), functions: this.#functions }
    const objects = new StagedObjects<T>(options, this.#deps)
    this.#objects.set(staged, objects as unknown as StagedObjects<never>)
    objects.start(tasks)
    return objects
  }

  #stagesChanged(kind: StagedKind, tasks: TaskGroup): void {
    const objects = this.#objects.get(kind)
    if (objects !== undefined) objects.addAll()
    else tasks.start(`kwok ${kind}`, (signal) => this.#follow(kind, tasks, signal))
  }

  /** Follows the objects of a further kind, once the server has it. */
  async #follow(kind: StagedKind, tasks: TaskGroup, signal: AbortSignal): Promise<void> {
    const { client, clock, log } = this.#deps
    for (;;) {
      const served = await discover(client, context(signal)).catch(() => undefined) // it is repeated
      const found = served?.kinds.find((each) => stagedKind(each.kind) === kind)?.kind
      if (this.#objects.has(kind)) return
      if (found !== undefined) {
        const informer = new Informer(found, client.of(found), this.#deps)
        this.#startKind(tasks, { kind: found, informer, isManaged: () => true })
        return informer.run(signal)
      }
      log.debug('a Stage is about a kind that is not served', { kind })
      await clock.sleep(kindRetryMs, signal)
    }
  }

  #isManaged({ metadata: { annotations, labels } }: Node): boolean {
    const { nodes } = this.#settings
    return nodes.by === 'all' || matchesLabels(nodes.selector, nodes.by === 'labels' ? labels : annotations)
  }

  #isManagedName(name: string | undefined): boolean {
    const found = name === undefined ? undefined : this.#nodes.get(name)
    return found !== undefined && this.#isManaged(found)
  }

  #nodeIp(name: string): string {
    const addresses = this.#nodes.get(name)?.status?.addresses ?? []
    return addresses.find(({ type }) => type === 'InternalIP')?.address ?? this.#settings.nodeIp
  }

  #podRange(nodeName: string): Cidr {
    return parseCidr(this.#nodes.get(nodeName)?.spec?.podCIDR ?? '') ?? this.#settings.podRange
  }
}
