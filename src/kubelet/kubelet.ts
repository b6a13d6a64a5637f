// The kubelet: constructs the components that run the pods of one node, and starts them. Changes from the API server, the
// runtime and probes enqueue pods for the pod workers.
import type { ExpositionFormat } from '../base/observability/exposition.ts'
import type { Clock } from '../base/time/clock.ts'
import type { FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import { quantityUnits } from '../schema/scalar/quantity.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/events/event-recorder.ts'
import type { ContainerRuntime } from '../machine/runtime/container-runtime.ts'
import { PodProvisioner } from './container/pod-provisioner.ts'
import { podEventRecorder } from './events/pod-events.ts'
import { recordCall } from './events/record-call.ts'
import { ImageManager } from './images/image-manager.ts'
import { runHeartbeat } from './node/heartbeat.ts'
import { defaultKubeletSettings, type KubeletSettings } from './node/kubelet-settings.ts'
import type { NodeHost } from './node/node-host.ts'
import { NodeManager } from './node/node-manager.ts'
import { cloudIdentity, type NodeDescription } from './node/node-status.ts'
import { PodAdmitter } from './node/pod-admitter.ts'
import { ObjectWatches } from './objects/object-watches.ts'
import { ReferencedObjects } from './objects/referenced-objects.ts'
import { CsiNodeUpdater } from './plugins/csi-node-updater.ts'
import { CsiRegistry } from './plugins/csi-registry.ts'
import { DriverLimits, type DriverLimitsDeps } from './plugins/driver-limits.ts'
import { PluginManager } from './plugins/plugin-manager.ts'
import type { NodeInfo } from './pod-config/field-values.ts'
import { PodActionExecutor } from './pod-workers/pod-action-executor.ts'
import { PodSyncer } from './pod-workers/pod-syncer.ts'
import { PodWorkers } from './pod-workers/pod-workers.ts'
import { PodSyncStates } from './pod/pod-sync-state.ts'
import { ProbeManager } from './probes/probe-manager.ts'
import { PodCgroups } from './resources/pod-cgroups.ts'
import { Resizer } from './resources/resizer.ts'
import { PodManager } from './sources/pod-manager.ts'
import { NodeStats } from './stats/node-stats.ts'
import { PodStatusManager } from './status/pod-status-manager.ts'
import { CsiVolumes } from './volumes/csi/csi-volumes.ts'
import { VolumeManager } from './volumes/volume-manager.ts'
import { VolumeRefresher } from './volumes/volume-refresher.ts'
import { collectLostContainers } from './container/container-gc.ts'

export interface KubeletDeps {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly description: NodeDescription
  readonly host: NodeHost
  /** Upstream's defaults when left out. */
  readonly settings?: KubeletSettings
}

function volumeComponents(deps: KubeletDeps, node: NodeInfo, registry: CsiRegistry, events: EventRecorder) {
  const { client, clock, random, flow, log, host } = deps
  const watches = new ObjectWatches({ client, clock, random, log })
  const objects = new ReferencedObjects(client, clock, node.nodeName, watches)
  const shared = { ...host, sources: objects, node, clock }
  const csi =
    host.plugins !== undefined
      ? new CsiVolumes({ ...shared, ...host.plugins, ...node, registry, client, events, flow, log })
      : undefined
  const volumes = new VolumeManager({ ...shared, csi, claims: { client, events, nodeName: node.nodeName } })
  return { watches, objects, csi, volumes }
}

/** Undefined on nodes where no storage driver can register. */
function pluginComponents(
  { client, clock, log, host }: KubeletDeps,
  nodeName: string,
  registry: CsiRegistry,
  objects: ReferencedObjects,
) {
  if (host.plugins === undefined) return undefined
  const csiNode = new CsiNodeUpdater({ client, nodeName })
  const csiDriver: DriverLimitsDeps['csiDriver'] = (name, context) => objects.csiDriver(name, context)
  const shared = { registry, csiNode, clock, log }
  return {
    manager: new PluginManager({ ...host.plugins, ...shared }),
    limits: new DriverLimits({ ...shared, csiDriver }),
  }
}

export class Kubelet {
  readonly #deps: KubeletDeps
  readonly #pods: PodManager
  readonly #workers: PodWorkers
  readonly #syncer: PodSyncer
  readonly #probes: ProbeManager
  readonly #statusManager: PodStatusManager
  readonly #volumes: VolumeManager
  readonly #refresher: VolumeRefresher
  readonly #plugins: ReturnType<typeof pluginComponents>
  readonly #csi: CsiVolumes | undefined
  readonly #nodeManager: NodeManager
  readonly #events: EventRecorder
  /** Usage of the node and its pods. */
  readonly stats: NodeStats

  // The order follows the dependencies: no component refers to one that is constructed later.
  constructor(given: KubeletDeps) {
    const { client, runtime, clock, log, host, settings = defaultKubeletSettings } = given
    const description = { ...given.description, ...cloudIdentity(settings) }
    const deps: KubeletDeps = { ...given, description }
    const { name: nodeName, hostIp, capacity, allocatable = capacity } = description
    const memoryCapacityBytes = quantityUnits(capacity['memory'])
    const machine = { cpus: quantityUnits(capacity['cpu']), memoryBytes: memoryCapacityBytes }
    const node = { nodeName, hostIp, allocatable }
    const events = new EventRecorder(client, 'kubelet', { ...deps, host: nodeName })
    const recordEvent = podEventRecorder(events)
    const call = recordCall(deps.flow, nodeName)

    const states = new PodSyncStates()
    const podManager = new PodManager({ ...deps, nodeName, isAdmitted: (uid) => states.isAdmitted(uid) })
    const pods = () => podManager.all()
    const find = (uid: string) => podManager.find(uid)
    const workers = new PodWorkers({ ...deps, states, find, nodeName })

    const registry = new CsiRegistry()
    const { watches, objects, csi, volumes } = volumeComponents(deps, node, registry, events)
    const driverVolumes = (uid: string) => csi?.stats.of(uid) ?? new Map<string, never>()
    const stats = new NodeStats({ runtime, host, pods, nodeName, machine, clock, driverVolumes })
    const nodeManager = new NodeManager({
      ...deps,
      settings,
      stats,
      pods,
      recordEvent,
      events,
      node: (context) => objects.node(context),
      volumesInUse: () => csi?.state.volumesInUse,
      activePods: () => podManager.activePods(),
      terminatePod: (uid, termination) => {
        states.terminate(uid, termination)
        workers.interrupt(uid)
      },
    })

    csi?.state.onChange(() => nodeManager.onVolumesInUse())
    // A driver that is back can release the volumes of pods that wait for it.
    registry.onRegistered((driver) => csi?.state.podsOf(driver).forEach((uid) => workers.enqueue(uid)))

    const cgroups = new PodCgroups({ cgroups: host.cgroups, root: host.cgroupRoot, allocatable })
    const provisioner = new PodProvisioner({ ...host, runtime, cgroups, objects, volumes, node, memoryCapacityBytes })
    const { staticPods } = podManager
    const shared = {
      ...deps,
      dialer: host.dialer,
      sendOn: host.sendOn,
      nodeName,
      hostIp,
      objects,
      provisioner,
      staticPods,
      recordEvent,
      call,
    }
    const probes = new ProbeManager({
      ...shared,
      onResultChange: (uid, cause) => {
        workers.enqueue(uid, cause)
        this.#syncer.probeResultChanged(uid)
      },
    })
    const images = new ImageManager({ ...shared, onPulled: () => nodeManager.onImagePulled() })
    const executor = new PodActionExecutor({
      ...shared,
      images,
      networkProblem: () => nodeManager.networkProblem,
      protectPod: host.protectPod,
    })
    const statusManager = new PodStatusManager({ ...shared, probes })
    const resizer = new Resizer({ runtime, cgroups, allocatable, memoryCapacityBytes, pods, call })
    const activePods = (except: string) => podManager.activePods(except)
    const { allowedUnsafeSysctls } = settings
    const admitter = new PodAdmitter({ description, nodeManager, allowedUnsafeSysctls, objects, activePods })

    this.#deps = deps
    this.#pods = podManager
    this.#workers = workers
    this.#syncer = new PodSyncer({ ...shared, states, probes, statusManager, executor, resizer, admitter })
    this.#probes = probes
    this.#statusManager = statusManager
    this.#volumes = volumes
    this.#refresher = new VolumeRefresher({ volumes, watches, objects, pod: find, events, clock, log })
    this.#plugins = pluginComponents(deps, nodeName, registry, objects)
    this.#csi = csi
    this.#nodeManager = nodeManager
    this.#events = events
    this.stats = stats
  }

  pod(namespace: string, name: string): Pod | undefined {
    return this.#pods.byName(namespace, name)
  }

  /** The uid of a pod in the runtime, which differs for mirror pods. */
  runningUid(pod: Pod): string {
    return this.#pods.runningUid(pod)
  }

  pods(): readonly Pod[] {
    return this.#pods.all()
  }

  /** How many containers have ended. */
  terminatedContainers(): ReturnType<PodStatusManager['terminatedContainers']['samples']> {
    return this.#statusManager.terminatedContainers.samples()
  }

  probeMetrics(format: ExpositionFormat): string {
    return this.#probes.metricsText(format)
  }

  start(tasks: TaskGroup): void {
    const nodeManager = this.#nodeManager
    this.#subscribe(tasks.signal)
    tasks.start('events', (signal) => this.#events.run(signal))
    nodeManager.start(tasks)
    tasks.start('heartbeat', async (signal) => {
      await unlessAborted(nodeManager.firstCheck, signal)
      await runHeartbeat({ ...this.#deps, state: nodeManager.state }, signal)
    })
    this.#pods.start(tasks)
    const plugins = this.#plugins
    const csi = this.#csi
    if (csi !== undefined) tasks.start('unused volumes', (signal) => csi.run(signal))
    if (plugins !== undefined) {
      tasks.start('limits of storage drivers', (signal) => plugins.limits.run(signal))
      tasks.start('plugins', (signal) => plugins.manager.run(signal))
    }
    tasks.start('volumes', (signal) => this.#refresher.run(signal))
    tasks.start('lost containers', (signal) => collectLostContainers(this.#deps, signal))
    tasks.start('pod workers', async (signal) => {
      await unlessAborted(this.#pods.synced, signal)
      await this.#csi?.reconstruct()
      await this.#enqueueOrphans(signal)
      await this.#workers.run(this.#syncer, tasks, signal)
    })
  }

  /** Enqueues pods that have changed until the signal is aborted. */
  #subscribe(signal: AbortSignal): void {
    const workers = this.#workers
    const refresher = this.#refresher
    this.#pods.onChange((uid, now, cause) => {
      workers.podChanged(uid, now, cause)
      if (now === undefined) refresher.podRemoved(uid)
      else refresher.podChanged(now, cause)
    })
    const unsubscribe = this.#deps.runtime.onChange((uid) => workers.enqueue(uid))
    const close = () => {
      unsubscribe()
      this.#probes.close()
      workers.close(signal.reason)
    }
    signal.addEventListener('abort', close, { once: true })
  }

  /** Enqueues pods with a sandbox or a directory, so that those which were deleted while no kubelet ran are cleaned up. */
  async #enqueueOrphans(signal: AbortSignal): Promise<void> {
    const uids = [await this.#deps.runtime.podUids(signal), await this.#volumes.podUids()]
    for (const uid of uids.flat()) this.#workers.enqueue(uid)
  }
}
