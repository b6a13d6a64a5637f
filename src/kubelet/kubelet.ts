// The kubelet: constructs what runs the pods of one node, and starts it. Changes from the API server, from the runtime and
// from probes wake the pod's worker.
import type { Clock } from '../base/time/clock.ts'
import type { Context } from '../base/observability/context.ts'
import type { FlowRecorder } from '../base/observability/flow-recorder.ts'
import type { Log } from '../base/observability/log.ts'
import type { Random } from '../base/random/random.ts'
import type { TaskGroup } from '../base/async/task-group.ts'
import { unlessAborted } from '../base/async/unless-aborted.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import type { Pod } from '../api/core/v1/pod/pod.ts'
import { quantityUnits } from '../schema/scalar/quantity.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/events/event-recorder.ts'
import type { ContainerRuntime } from '../machine/runtime/container-runtime.ts'
import { runHeartbeat } from './node/heartbeat.ts'
import type { NodeHost } from './node/node-host.ts'
import { rejectionOf } from './node/pod-admission.ts'
import { NodeManager } from './node/node-manager.ts'
import { ReferencedObjects } from './objects/referenced-objects.ts'
import type { NodeDescription } from './node/node-status.ts'
import { ObjectWatches } from './objects/object-watches.ts'
import { podEventRecorder } from './events/pod-events.ts'
import { PodProvisioner } from './container/pod-provisioner.ts'
import type { PodTermination } from './pod/pod-sync-state.ts'
import { PodWorkers } from './pod-workers/pod-workers.ts'
import { VolumeManager } from './volumes/volume-manager.ts'
import { PodSyncer } from './pod-workers/pod-syncer.ts'
import { ProbeManager } from './probes/probe-manager.ts'
import { recordCall } from './events/record-call.ts'
import { Resizer } from './resources/resizer.ts'
import { PodCgroups } from './resources/pod-cgroups.ts'
import { defaultKubeletSettings, type KubeletSettings } from './node/kubelet-settings.ts'
import { PodManager } from './sources/pod-manager.ts'
import { NodeStats } from './stats/node-stats.ts'
import { VolumeRefresher } from './volumes/volume-refresher.ts'

export interface KubeletDeps {
  readonly client: Client
  readonly runtime: ContainerRuntime
  readonly clock: Clock
  readonly random: Random
  readonly flow: FlowRecorder
  readonly log: Log
  readonly description: NodeDescription
  readonly host: NodeHost
  /** As upstream's kubelet has them when left out. */
  readonly settings?: KubeletSettings
}

export class Kubelet {
  readonly #deps: KubeletDeps
  readonly #pods: PodManager
  readonly #objects: ReferencedObjects
  readonly #probes: ProbeManager
  readonly #worker: PodSyncer
  readonly #syncs: PodWorkers
  readonly #volumes: VolumeManager | undefined
  readonly #follower: VolumeRefresher | undefined
  readonly #keeper: NodeManager
  readonly #events: EventRecorder
  /** What the node and its pods use. */
  readonly stats: NodeStats

  constructor(deps: KubeletDeps) {
    const { client, runtime, clock, log, description, host } = deps
    const { name: nodeName, hostIp, capacity, allocatable = capacity } = description
    const memoryCapacityBytes = quantityUnits(capacity['memory'])
    this.#deps = deps
    this.#pods = new PodManager({
      ...deps,
      nodeName,
      isAdmitted: (uid) => this.#worker.hasAdmitted(uid),
      onChange: (uid, now, cause) => {
        this.#syncs.podChanged(uid, now, cause)
        if (now === undefined) this.#follower?.podRemoved(uid)
        else this.#follower?.podChanged(now, cause)
      },
    })
    const pods = () => this.#pods.all()
    const node = { nodeName, hostIp, allocatable }
    const events = new EventRecorder(client, 'kubelet', { ...deps, host: nodeName })
    const tell = podEventRecorder(events)
    this.#events = events
    const cgroups = new PodCgroups({ cgroups: host.cgroups, root: host.cgroupRoot, allocatable })
    const watches = host.mountsVolumes
      ? new ObjectWatches({ ...deps, onChange: (uid, cause) => this.#follower?.enqueue(uid, cause) })
      : undefined
    const objects = new ReferencedObjects(client, clock, nodeName, watches)
    const volumes = host.mountsVolumes ? new VolumeManager({ ...host, sources: objects, node, clock }) : undefined
    const machine = { cpus: quantityUnits(capacity['cpu']), memoryBytes: memoryCapacityBytes }
    this.stats = new NodeStats({ runtime, host, pods, nodeName, machine, clock })
    this.#objects = objects
    this.#volumes = volumes
    const find = (uid: string) => this.#pods.find(uid)
    this.#follower =
      volumes && watches && new VolumeRefresher({ volumes, watches, objects, pod: find, events, clock, log })
    const maker = new PodProvisioner({ ...host, runtime, cgroups, objects, volumes, node, memoryCapacityBytes })
    const own = { ...deps, dialer: host.dialer, nodeName, hostIp, objects, maker, tell }
    this.#probes = new ProbeManager({ ...own, onVerdict: (uid, cause) => this.#syncs.enqueue(uid, cause) })
    const call = recordCall(deps.flow, nodeName)
    const worker = new PodSyncer({
      ...own,
      probes: this.#probes,
      staticPods: this.#pods.staticPods,
      rejection: (pod, context) => this.#refusal(pod, context),
      networkProblem: () => this.#keeper.networkProblem,
      onImage: () => this.#keeper.onImagePulled(),
      resizer: new Resizer({ runtime, cgroups, allocatable, memoryCapacityBytes, pods, call }),
    })
    this.#worker = worker
    this.#syncs = new PodWorkers({ ...deps, worker, find, nodeName })
    this.#keeper = new NodeManager({
      ...deps,
      settings: deps.settings ?? defaultKubeletSettings,
      stats: this.stats,
      pods,
      node: (context) => objects.node(context),
      tell,
      events,
      running: () => this.#pods.activePods(),
      terminatePod: (uid, verdict) => {
        worker.terminate(uid, verdict)
        this.#syncs.interrupt(uid)
      },
    })
  }

  /** A pod of this node as its API server told it last. */
  pod(namespace: string, name: string): Pod | undefined {
    return this.#pods.byName(namespace, name)
  }

  /** Under which uid its runtime has a pod that the API server shows. */
  runningUid(pod: Pod): string {
    return this.#pods.runningUid(pod)
  }

  pods(): readonly Pod[] {
    return this.#pods.all()
  }

  /** How its probes were answered, in Prometheus' text format. */
  probeMetrics(): string {
    return this.#probes.metricsText()
  }

  start(tasks: TaskGroup): void {
    const leave = this.#deps.runtime.onChange((uid) => this.#syncs.enqueue(uid))
    tasks.signal.addEventListener(
      'abort',
      () => {
        leave()
        this.#probes.close()
        this.#syncs.close(tasks.signal.reason)
      },
      { once: true },
    )
    tasks.start('events', (signal) => this.#events.run(signal))
    this.#keeper.start(tasks)
    tasks.start('heartbeat', async (signal) => {
      await unlessAborted(this.#keeper.firstCheck, signal)
      await runHeartbeat({ ...this.#deps, state: () => this.#keeper.state }, signal)
    })
    this.#pods.start(tasks)
    const follower = this.#follower
    if (follower !== undefined) tasks.start('volumes', (signal) => follower.run(signal))
    tasks.start('pod workers', async (signal) => {
      await unlessAborted(this.#pods.synced, signal)
      await this.#wakeLeftovers(signal)
      await this.#syncs.run(tasks, signal)
    })
  }

  /** Why the node does not take a pod, if it does not. */
  async #refusal(pod: Pod, context: Context): Promise<PodTermination | undefined> {
    const { description } = this.#deps
    const { name, capacity, allocatable = capacity, operatingSystem } = description
    const pressed = this.#keeper.rejection(pod)
    if (pressed !== undefined) return pressed
    const others = this.#pods.activePods(pod.metadata.uid)
    const refusedBy = (node: Node | undefined) =>
      rejectionOf({ pod, node: node ?? { metadata: { name } }, allocatable, operatingSystem, others })
    // What a pod asks of its node's labels is rare; the node is asked for only then.
    const { nodeSelector, affinity } = pod.spec
    if ((nodeSelector ?? affinity?.nodeAffinity) === undefined) return refusedBy(undefined)
    const refusal = refusedBy(await this.#objects.node(context))
    // A label may be newer than what is remembered of the node, and the scheduler has seen it.
    return refusal?.reason === 'NodeAffinity' ? refusedBy(await this.#objects.uncachedNode(context)) : refusal
  }

  /** Pods that ended while no kubelet ran still have a sandbox, or something on the disk. */
  async #wakeLeftovers(signal: AbortSignal): Promise<void> {
    const left = [await this.#deps.runtime.podUids(signal), (await this.#volumes?.podUids()) ?? []]
    for (const uid of left.flat()) this.#syncs.enqueue(uid)
  }
}
