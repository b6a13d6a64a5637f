// NodeKeeper: looks after the node itself: pods go when something runs short, images and ended containers when nobody needs
// them, and the node's object tells what it is under.
import type { Clock } from '../base/clock.ts'
import { context, type Context } from '../base/context.ts'
import type { Log } from '../base/log.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import type { Node } from '../api/core/v1/node.ts'
import { isPodFinished } from '../api/core/v1/pod-readiness.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import type { Client } from '../client/client.ts'
import type { EventNote, EventRecorder } from '../client/event-recorder.ts'
import type { ContainerRuntime } from '../machine/runtime/runtime.ts'
import { removeEnded } from './container-collector.ts'
import { ImageCollector } from './images/image-collector.ts'
import type { NodeHost } from './node-host.ts'
import { register } from './node-registration.ts'
import { NodeHealth } from './node-health.ts'
import { NodeReports } from './node-reports.ts'
import type { NodeDescription, NodeState } from './node-status.ts'
import type { Tell } from './pod-events.ts'
import type { Verdict } from './pod-memory.ts'
import { PressureManager, type Eviction } from './pressure/pressure-manager.ts'
import type { PressureCondition } from './pressure/signals.ts'
import type { KubeletSettings } from './settings.ts'
import { NodeShutdown } from './shutdown/node-shutdown.ts'
import type { NodeStats } from './stats/node-stats.ts'

export interface NodeKeeperParts {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly host: NodeHost
  readonly description: NodeDescription
  readonly settings: KubeletSettings
  readonly stats: NodeStats
  readonly pods: () => readonly Pod[]
  /** Those that the node has taken and that have not ended, its own among them. */
  readonly running: () => readonly Pod[]
  /** The node's own object. */
  readonly node: (context: Context) => Promise<Node | undefined>
  readonly tell: Tell
  readonly events: EventRecorder
  /** Ends a pod as failed. */
  readonly condemn: (podUid: string, verdict: Verdict) => void
  readonly clock: Clock
  readonly log: Log
}

const conditionEvents: Readonly<Record<PressureCondition, readonly [under: string, over: string]>> = {
  MemoryPressure: ['NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  DiskPressure: ['NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  PIDPressure: ['NodeHasInsufficientPID', 'NodeHasSufficientPID'],
}

const shownImages = (pods: readonly Pod[]): readonly string[] =>
  pods
    .filter((pod) => !isPodFinished(pod))
    .flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ image }) => image?.reference ?? []))

export class NodeKeeper {
  readonly #parts: NodeKeeperParts
  readonly #pressure: PressureManager
  readonly #images: ImageCollector
  readonly #health: NodeHealth
  readonly #reports: NodeReports
  readonly #shutdown: NodeShutdown
  #told: readonly PressureCondition[] = []

  constructor(parts: NodeKeeperParts) {
    const { host, settings, runtime } = parts
    this.#parts = parts
    this.#health = new NodeHealth({ ...parts, onChange: () => this.#reports.readiness() })
    this.#reports = new NodeReports({ ...parts, state: () => this.state })
    this.#images = new ImageCollector({
      ...parts,
      runtime,
      settings: settings.imageCollection,
      shown: () => shownImages(parts.pods()),
      fileSystem: async (signal) => host.load.fileSystem((await runtime.fileSystems(signal)).images.path),
      onShortage: (message, signal) => this.#tellNode('Warning', 'FreeDiskSpaceFailed', message, signal),
    })
    this.#pressure = new PressureManager({
      ...parts,
      freeDisk: async ({ images, containers }, signal) => {
        if (containers) await removeEnded(runtime, parts.pods(), signal)
        if (images) await this.#images.freeAll(signal)
      },
      evict: (eviction, signal) => this.#evict(eviction, signal),
      onReclaim: (resource, signal) =>
        this.#tellNode('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`, signal),
      onConditions: (conditions, signal) => this.#tellConditions(conditions, signal),
    })
    this.#shutdown = new NodeShutdown({
      ...parts,
      shutdown: host.shutdown,
      periods: settings.shutdownPeriods,
      onChange: async (message, signal) => {
        await this.#register(signal)
        await this.#tellNode('Normal', 'NodeShutdown', message, signal)
      },
    })
  }

  get state(): NodeState {
    const shutdown = this.#shutdown.isUnderWay ? ['node is shutting down'] : []
    return { pressures: this.#pressure.conditions, faults: [...this.#health.problems, ...shutdown] }
  }

  /** Resolves when it is known how the node is. */
  get known(): Promise<void> {
    return this.#health.known
  }

  get networkProblem(): string | undefined {
    return this.#health.networkProblem
  }

  /** The node has an image that it did not have. */
  gotImage(): void {
    this.#reports.soon()
  }

  /** Why the node takes no such pod now. */
  refusal(pod: Pod): Verdict | undefined {
    const message = this.#pressure.refusal(pod)
    if (this.#shutdown.refusal !== undefined) return this.#shutdown.refusal
    return message === undefined ? undefined : { reason: 'Evicted', message }
  }

  start(tasks: TaskGroup): void {
    tasks.start('shutdown', (signal) => this.#shutdown.run(signal))
    const onceLoaded = (run: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
      await unlessAborted(this.#parts.host.load.whenLoaded, signal)
      await run(signal)
    }
    tasks.start('health of the runtime', (signal) => this.#health.run(signal))
    tasks.start('reports of the node', (signal) => this.#reports.run(signal))
    tasks.start(
      'pressure',
      onceLoaded((signal) => this.#pressure.run(signal)),
    )
    tasks.start(
      'images',
      onceLoaded((signal) => this.#images.run(signal)),
    )
  }

  async #evict({ pod, message, graceSeconds }: Eviction, signal: AbortSignal): Promise<void> {
    const { tell, condemn, log } = this.#parts
    log.warn('a pod is evicted', { pod: pod.metadata.name, namespace: pod.metadata.namespace ?? '', message })
    condemn(pod.metadata.uid, { reason: 'Evicted', message, graceSeconds, isDisruption: true })
    tell(pod, { type: 'Warning', reason: 'Evicted', message }, context(signal))
  }

  async #tellConditions(now: readonly PressureCondition[], signal: AbortSignal): Promise<void> {
    const before = this.#told
    this.#told = now
    await this.#register(signal)
    const changed = [...new Set([...before, ...now])].filter((one) => before.includes(one) !== now.includes(one))
    for (const condition of changed) {
      const reason = conditionEvents[condition][now.includes(condition) ? 0 : 1]
      await this.#tellNode('Normal', reason, `Node ${this.#parts.description.name} status is now: ${reason}`, signal)
    }
  }

  async #register(signal: AbortSignal): Promise<void> {
    await register({ ...this.#parts, state: () => this.state }, context(signal))
  }

  async #tellNode(type: EventNote['type'], reason: string, message: string, signal: AbortSignal): Promise<void> {
    const node = await this.#parts.node(context(signal))
    if (node !== undefined) this.#parts.events.record(node, { type, reason, message }, context(signal))
  }
}
