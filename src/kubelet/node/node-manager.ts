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
import { EvictionManager, type Eviction, type OnConditions } from '../eviction/eviction-manager.ts'
import type { PressureCondition } from '../eviction/eviction-signals.ts'
import type { KubeletSettings } from './kubelet-settings.ts'
import { runUsedPortReporter } from './used-port-reporter.ts'
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
  readonly activePods: () => readonly Pod[]
  /** The Node object. */
  readonly node: (context: Context) => Promise<Node | undefined>
  /** Attached volumes that pods use. */
  readonly volumesInUse: () => readonly string[] | undefined
  readonly recordEvent: RecordPodEvent
  readonly events: EventRecorder
  /** Terminates a pod as failed. */
  readonly terminatePod: (podUid: string, termination: PodTermination) => void
  readonly clock: Clock
  readonly log: Log
}

const conditionEvents: Readonly<Record<PressureCondition, readonly [under: string, over: string]>> = {
  MemoryPressure: ['NodeHasInsufficientMemory', 'NodeHasSufficientMemory'],
  DiskPressure: ['NodeHasDiskPressure', 'NodeHasNoDiskPressure'],
  PIDPressure: ['NodeHasInsufficientPID', 'NodeHasSufficientPID'],
}

const volumeImages = (pods: readonly Pod[]): readonly string[] =>
  pods
    .filter((pod) => !isPodFinished(pod))
    .flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ image }) => image?.reference ?? []))

/** Records an event of the Node object. */
type RecordNodeEvent = (type: EventNote['type'], reason: string, message: string, signal: AbortSignal) => Promise<void>

const nodeEventRecorder =
  ({ node, events }: Pick<NodeManagerDeps, 'node' | 'events'>): RecordNodeEvent =>
  async (type, reason, message, signal) => {
    const object = await node(context(signal))
    if (object !== undefined) events.record(object, { type, reason, message }, context(signal))
  }

/** Terminates evicted pods. */
const evictor =
  ({ recordEvent, terminatePod, log }: Pick<NodeManagerDeps, 'recordEvent' | 'terminatePod' | 'log'>) =>
  async ({ pod, message, graceSeconds }: Eviction, signal: AbortSignal): Promise<void> => {
    log.warn('a pod is evicted', { pod: pod.metadata.name, namespace: pod.metadata.namespace ?? '', message })
    terminatePod(pod.metadata.uid, { reason: 'Evicted', message, graceSeconds, isDisruption: true })
    recordEvent(pod, { type: 'Warning', reason: 'Evicted', message }, context(signal))
  }

export class NodeManager {
  readonly #deps: NodeManagerDeps
  readonly #recordEvent: RecordNodeEvent
  readonly #images: ImageGcManager
  readonly #eviction: EvictionManager
  readonly #health: RuntimeHealthMonitor
  readonly #shutdown: ShutdownManager
  readonly #statusUpdater: NodeStatusUpdater
  #reportedConditions: readonly PressureCondition[] = []
  /** The current state of the node. */
  readonly state: () => NodeState

  constructor(deps: NodeManagerDeps) {
    const { host, settings, runtime } = deps
    const recordEvent = nodeEventRecorder(deps)
    const images = new ImageGcManager({
      ...deps,
      settings: settings.imageGc,
      volumeImages: () => volumeImages(deps.pods()),
      fileSystem: async (signal) => host.load.fileSystem((await runtime.fileSystems(signal)).images.path),
      onShortage: (message, signal) => recordEvent('Warning', 'FreeDiskSpaceFailed', message, signal),
    })
    const eviction = new EvictionManager({
      ...deps,
      reclaimDisk: async (what, signal) => {
        if (what.containers) await removeExitedContainers(runtime, deps.pods(), signal)
        if (what.images) await images.deleteUnusedImages(signal)
      },
      evict: evictor(deps),
      onReclaim: (resource, signal) =>
        recordEvent('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${resource}`, signal),
    })
    const health = new RuntimeHealthMonitor(deps)
    const shutdown = new ShutdownManager({ ...deps, shutdown: host.shutdown, periods: settings.shutdownPeriods })
    const state = () => ({
      pressures: eviction.conditions,
      problems: [...health.problems, ...(shutdown.isShuttingDown ? ['node is shutting down'] : [])],
    })
    this.#deps = deps
    this.#recordEvent = recordEvent
    this.#images = images
    this.#eviction = eviction
    this.#health = health
    this.#shutdown = shutdown
    this.#statusUpdater = new NodeStatusUpdater({ ...deps, state })
    this.state = state
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
    this.#statusUpdater.updateSoon()
  }

  /** Pods use other volumes now. */
  onVolumesInUse(): void {
    this.#statusUpdater.updateVolumes()
  }

  /** Why the pod cannot be admitted in the node's current state; undefined when it can. */
  rejection(pod: Pod): PodTermination | undefined {
    if (this.#shutdown.rejection !== undefined) return this.#shutdown.rejection
    const message = this.#eviction.rejection(pod)
    return message === undefined ? undefined : { reason: 'Evicted', message }
  }

  start(tasks: TaskGroup): void {
    const onceLoaded = (run: (signal: AbortSignal) => Promise<void>) => async (signal: AbortSignal) => {
      await unlessAborted(this.#deps.host.load.whenLoaded, signal)
      await run(signal)
    }
    const reportConditions: OnConditions = (conditions, signal) => this.#reportConditions(conditions, signal)
    const runEviction = onceLoaded((signal) => this.#eviction.run(reportConditions, signal))
    const runImageGc = onceLoaded((signal) => this.#images.run(signal))
    tasks.start('shutdown', (signal) =>
      this.#shutdown.run(async (message, reportSignal) => {
        await this.#register(reportSignal)
        await this.#recordEvent('Normal', 'NodeShutdown', message, reportSignal)
      }, signal),
    )
    tasks.start('runtime health', (signal) => this.#health.run(() => this.#statusUpdater.updateNow(), signal))
    tasks.start('node status', (signal) => this.#statusUpdater.run(signal))
    tasks.start('eviction', runEviction)
    tasks.start('image gc', runImageGc)
    const { host, description } = this.#deps
    const { listeningPorts, services } = host
    if (listeningPorts !== undefined)
      tasks.start('used ports', (signal) =>
        runUsedPortReporter({ ...this.#deps, nodeName: description.name, services, listeningPorts }, signal),
      )
  }

  async #reportConditions(now: readonly PressureCondition[], signal: AbortSignal): Promise<void> {
    const before = this.#reportedConditions
    this.#reportedConditions = now
    await this.#register(signal)
    const changed = [...new Set([...before, ...now])].filter((one) => before.includes(one) !== now.includes(one))
    for (const condition of changed) {
      const reason = conditionEvents[condition][now.includes(condition) ? 0 : 1]
      await this.#recordEvent('Normal', reason, `Node ${this.#deps.description.name} status is now: ${reason}`, signal)
    }
  }

  async #register(signal: AbortSignal): Promise<void> {
    await registerNode({ ...this.#deps, state: this.state }, context(signal))
  }
}
