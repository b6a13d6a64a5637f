// The kubelet: constructs what runs the pods of one node, and starts it. Changes from the API server, from the runtime and
// from probes wake the pod's worker.
import type { Clock } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import type { FlowRecorder } from '../base/flow.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { unlessAborted } from '../base/unless-aborted.ts'
import type { Node } from '../api/core/v1/node.ts'
import type { Pod } from '../api/core/v1/pod.ts'
import { quantityUnits } from '../schema/quantity.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/event-recorder.ts'
import type { ContainerRuntime } from '../machine/runtime/runtime.ts'
import { beat } from './heartbeat.ts'
import type { NodeHost } from './node-host.ts'
import { refusalOf } from './node-admission.ts'
import { NodeKeeper } from './node-keeper.ts'
import { NodeObjects } from './node-objects.ts'
import type { NodeDescription } from './node-status.ts'
import { ObjectWatches } from './object-watches.ts'
import { podEvents } from './pod-events.ts'
import { PodMaker } from './pod-maker.ts'
import type { Verdict } from './pod-memory.ts'
import { PodSyncs } from './pod-syncs.ts'
import { PodVolumes } from './pod-volumes.ts'
import { PodWorker } from './pod-worker.ts'
import { Probes } from './probes/probes.ts'
import { recordCall } from './record-call.ts'
import { Resizer } from './resources/resizer.ts'
import { PodCgroups } from './resources/pod-cgroups.ts'
import { defaultSettings, type KubeletSettings } from './settings.ts'
import { NodePods } from './sources/node-pods.ts'
import { NodeStats } from './stats/node-stats.ts'
import { VolumeFollower } from './volume-follower.ts'

export interface KubeletParts {
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
  readonly #parts: KubeletParts
  readonly #pods: NodePods
  readonly #objects: NodeObjects
  readonly #probes: Probes
  readonly #worker: PodWorker
  readonly #syncs: PodSyncs
  readonly #volumes: PodVolumes | undefined
  readonly #follower: VolumeFollower | undefined
  readonly #keeper: NodeKeeper
  readonly #events: EventRecorder
  /** What the node and its pods use. */
  readonly stats: NodeStats

  constructor(parts: KubeletParts) {
    const { client, runtime, clock, log, description, host } = parts
    const { name: nodeName, hostIp, capacity, allocatable = capacity } = description
    const memoryCapacityBytes = quantityUnits(capacity['memory'])
    this.#parts = parts
    this.#pods = new NodePods({
      ...parts,
      nodeName,
      isTaken: (uid) => this.#worker.hasTaken(uid),
      onChange: (uid, now, cause) => {
        this.#syncs.see(uid, now, cause)
        if (now === undefined) this.#follower?.leave(uid)
        else this.#follower?.see(now, cause)
      },
    })
    const pods = () => this.#pods.all()
    const node = { nodeName, hostIp, allocatable }
    const events = new EventRecorder(client, 'kubelet', { ...parts, host: nodeName })
    const tell = podEvents(events)
    this.#events = events
    const cgroups = new PodCgroups({ cgroups: host.cgroups, root: host.cgroupRoot, allocatable })
    const watches = host.mountsVolumes
      ? new ObjectWatches({ client, clock, log, onChange: (uid, cause) => this.#follower?.look(uid, cause) })
      : undefined
    const objects = new NodeObjects(client, clock, nodeName, watches)
    const volumes = host.mountsVolumes ? new PodVolumes({ ...host, sources: objects, node, clock }) : undefined
    const machine = { cpus: quantityUnits(capacity['cpu']), memoryBytes: memoryCapacityBytes }
    this.stats = new NodeStats({ runtime, host, pods, nodeName, machine, clock })
    this.#objects = objects
    this.#volumes = volumes
    const find = (uid: string) => this.#pods.find(uid)
    this.#follower =
      volumes && watches && new VolumeFollower({ volumes, watches, objects, pod: find, events, clock, log })
    const maker = new PodMaker({ ...host, runtime, cgroups, objects, volumes, node, memoryCapacityBytes })
    const own = { ...parts, reach: host.reach, nodeName, hostIp, objects, maker, tell }
    this.#probes = new Probes({ ...own, onVerdict: (uid, cause) => this.#syncs.wake(uid, cause) })
    const call = recordCall(parts.flow, nodeName)
    const worker = new PodWorker({
      ...own,
      probes: this.#probes,
      statics: this.#pods.statics,
      refusal: (pod, context) => this.#refusal(pod, context),
      networkProblem: () => this.#keeper.networkProblem,
      onImage: () => this.#keeper.gotImage(),
      resizer: new Resizer({ runtime, cgroups, allocatable, memoryCapacityBytes, pods, call }),
    })
    this.#worker = worker
    this.#syncs = new PodSyncs({ ...parts, worker, find, nodeName })
    this.#keeper = new NodeKeeper({
      ...parts,
      settings: parts.settings ?? defaultSettings,
      stats: this.stats,
      pods,
      node: (context) => objects.node(context),
      tell,
      events,
      running: () => this.#pods.running(),
      condemn: (uid, verdict) => {
        worker.condemn(uid, verdict)
        this.#syncs.restart(uid)
      },
    })
  }

  /** A pod of this node as its API server told it last. */
  pod(namespace: string, name: string): Pod | undefined {
    return this.#pods.named(namespace, name)
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
    const leave = this.#parts.runtime.onChange((uid) => this.#syncs.wake(uid))
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
      await unlessAborted(this.#keeper.known, signal)
      await beat({ ...this.#parts, state: () => this.#keeper.state }, signal)
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
  async #refusal(pod: Pod, context: Context): Promise<Verdict | undefined> {
    const { description } = this.#parts
    const { name, capacity, allocatable = capacity, operatingSystem } = description
    const pressed = this.#keeper.refusal(pod)
    if (pressed !== undefined) return pressed
    const others = this.#pods.running(pod.metadata.uid)
    const refusedBy = (node: Node | undefined) =>
      refusalOf({ pod, node: node ?? { metadata: { name } }, allocatable, operatingSystem, others })
    // What a pod asks of its node's labels is rare; the node is asked for only then.
    const { nodeSelector, affinity } = pod.spec
    if ((nodeSelector ?? affinity?.nodeAffinity) === undefined) return refusedBy(undefined)
    const refusal = refusedBy(await this.#objects.node(context))
    // A label may be newer than what is remembered of the node, and the scheduler has seen it.
    return refusal?.reason === 'NodeAffinity' ? refusedBy(await this.#objects.nodeNow(context)) : refusal
  }

  /** Pods that ended while no kubelet ran still have a sandbox, or something on the disk. */
  async #wakeLeftovers(signal: AbortSignal): Promise<void> {
    const left = [await this.#parts.runtime.podUids(signal), (await this.#volumes?.podUids()) ?? []]
    for (const uid of left.flat()) this.#syncs.wake(uid)
  }
}
