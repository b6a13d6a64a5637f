// NodeManager: runs what manages the node itself: runtime health, status updates, eviction, image garbage collection
// and graceful shutdown.
import type { Clock } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import type { Log } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Client } from '../../client/client.ts'
import type { EventNote, EventRecorder } from '../../client/events/event-recorder.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import { removeExitedContainers } from '../container/container-gc.ts'
import { ImageGcManager } from '../images/image-gc-manager.ts'
import type { NodeHost } from './node-host.ts'
import { registerNode } from './node-registration.ts'
import { RuntimeHealthMonitor } from './runtime-health-monitor.ts'
import { NodeStatusUpdater } from './node-status-updater.ts'
import type { NodeDescription, NodeState } from './node-status.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'
import { EvictionManager, type Eviction } from '../eviction/eviction-manager.ts'
import type { PressureCondition } from '../eviction/eviction-signals.ts'
import type { KubeletSettings } from './kubelet-settings.ts'
import { ShutdownManager } from '../shutdown/shutdown-manager.ts'
import type { NodeStats } from '../stats/node-stats.ts'

export interface NodeManagerDeps {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly host: NodeHost
  readonly description: NodeDescription
  readonly settings: KubeletSettings
  readonly stats: NodeStats
  readonly pods: () => readonly Pod[]
  /** Admitted pods that have not finished, including static pods. */
  readonly running: () => readonly Pod[]
  /** The Node object. */
  readonly node: (context: Context) => Promise<Node | undefined>
  readonly tell: RecordPodEvent
  readonly events: EventRecorder
  /** Terminates a pod as failed. */
  readonly terminatePod: (podUid: string, verdict: PodTermination) => void
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

export class NodeManager {
  readonly #deps: NodeManagerDeps
  readonly #pressure: EvictionManager
  readonly #images: ImageGcManager
  readonly #health: RuntimeHealthMonitor
  readonly #reports: NodeStatusUpdater
  readonly #shutdown: ShutdownManager
  #told: readonly PressureCondition[] = []

  constructor(deps: NodeManagerDeps) {
    const { host, settings, runtime } = deps
    this.#deps = deps
    this.#health = new RuntimeHealthMonitor({ ...deps, onChange: () => this.#reports.updateNow() })
    this.#reports = new NodeStatusUpdater({ ...deps, state: () => this.state })
    this.#images = new ImageGcManager({
      ...deps,
      runtime,
      settings: settings.imageGc,
      volumeImages: () => shownImages(deps.pods()),
      fileSystem: async (signal) => host.load.fileSystem((await runtime.fileSystems(signal)).images.path),
      onShortage: (message, signal) => this.#tellNode('Warning', 'FreeDiskSpaceFailed', message, signal),
    })
    this.#pressure = new EvictionManager({
      ...deps,
      reclaimDisk: async ({ images, containers }, signal) => {
        if (containers) await removeExitedContainers(runtime, deps.pods(), signal)
        if (images) await this.#images.deleteUnusedImages(signal)
      },
      evict: (eviction, signal) => this.#evict(eviction, signal),
      onReclaim: (resource, signal) =>
        this.#tellNode('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`, signal),
      onConditions: (conditions, signal) => this.#tellConditions(conditions, signal),
    })
    this.#shutdown = new ShutdownManager({
      ...deps,
      shutdown: host.shutdown,
      periods: settings.shutdownPeriods,
      onChange: async (message, signal) => {
        await this.#register(signal)
        await this.#tellNode('Normal', 'NodeShutdown', message, signal)
      },
    })
  }

  get state(): NodeState {
    const shutdown = this.#shutdown.isShuttingDown ? ['node is shutting down'] : []
    return { pressures: this.#pressure.conditions, problems: [...this.#health.problems, ...shutdown] }
  }

  /** Resolves after the first check of the runtime's health. */
  get firstCheck(): Promise<void> {
    return this.#health.firstCheck
  }

  get networkProblem(): string | undefined {
    return this.#health.networkProblem
  }

  /** A new image was pulled, so the node's status has changed. */
  onImagePulled(): void {
    this.#reports.updateSoon()
  }

  /** Why the pod cannot be admitted in the node's current state; undefined when it can. */
  rejection(pod: Pod): PodTermination | undefined {
    const message = this.#pressure.rejection(pod)
    if (this.#shutdown.rejection !== undefined) return this.#shutdown.rejection
    return message === undefined ? undefined : { reason: 'Evicted', message }
  }

  start(tasks: TaskGroup): void {
    tasks.start('shutdown', (signal) => this.#shutdown.run(signal))
    const onceLoaded = (run: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
      await unlessAborted(this.#deps.host.load.whenLoaded, signal)
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
    const { tell, terminatePod: condemn, log } = this.#deps
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
      await this.#tellNode('Normal', reason, `Node ${this.#deps.description.name} status is now: ${reason}`, signal)
    }
  }

  async #register(signal: AbortSignal): Promise<void> {
    await registerNode({ ...this.#deps, state: () => this.state }, context(signal))
  }

  async #tellNode(type: EventNote['type'], reason: string, message: string, signal: AbortSignal): Promise<void> {
    const node = await this.#deps.node(context(signal))
    if (node !== undefined) this.#deps.events.record(node, { type, reason, message }, context(signal))
  }
}
