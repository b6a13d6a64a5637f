// The kubelet: the pods of one node. Changes from the API server, from the runtime and from probes wake the pod's worker.
import type { Clock } from '../base/clock.ts'
import { context, type Context } from '../base/context.ts'
import { causeOf, noCause, type FlowRecorder } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { WorkQueue, type Work } from '../base/work-queue.ts'
import { isPodFinished } from '../api/core/v1/pod-readiness.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import { isBeingDeleted, keyOf, splitKey } from '../api/object.ts'
import { quantityUnits } from '../schema/quantity.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/event-recorder.ts'
import { Informer } from '../client/informer.ts'
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
import { PodVolumes } from './pod-volumes.ts'
import { PodWorker } from './pod-worker.ts'
import { Probes } from './probes/probes.ts'
import { Resizer } from './resources/resizer.ts'
import { PodCgroups } from './resources/pod-cgroups.ts'
import { defaultSettings, type KubeletSettings } from './settings.ts'
import { isMirror } from './sources/static-pod.ts'
import { StaticPods } from './sources/static-pods.ts'
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

/** A pod that is worked on: what for, and how to stop that. */
interface Sync {
  readonly purpose: string
  readonly ended: AbortController
}

export class Kubelet {
  readonly #parts: KubeletParts
  readonly #queue: WorkQueue<string>
  readonly #pods: Informer<Pod>
  readonly #probes: Probes
  readonly #worker: PodWorker
  readonly #volumes: PodVolumes | undefined
  readonly #follower: VolumeFollower | undefined
  readonly #static: StaticPods | undefined
  readonly #syncs = new Map<string, Sync>()
  readonly #keeper: NodeKeeper
  /** What the node and its pods use. */
  readonly stats: NodeStats

  constructor(parts: KubeletParts) {
    const { client, runtime, clock, log, description, host } = parts
    const { name: nodeName, hostIp, capacity, allocatable = capacity } = description
    this.#parts = parts
    this.#queue = new WorkQueue(clock)
    this.#pods = new Informer<Pod>(pod, client.of(pod), { clock, log }, { fieldSelector: `spec.nodeName=${nodeName}` })
    const node = { nodeName, hostIp, allocatable }
    const events = new EventRecorder(client, 'kubelet', { ...parts, host: nodeName })
    const cgroups = new PodCgroups({ cgroups: host.cgroups, root: host.cgroupRoot, allocatable })
    const watches = host.mountsVolumes
      ? new ObjectWatches({ client, clock, log, onChange: (uid, cause) => this.#follower?.look(uid, cause) })
      : undefined
    const objects = new NodeObjects(client, clock, nodeName, watches)
    const volumes = host.mountsVolumes ? new PodVolumes({ ...host, sources: objects, node, clock }) : undefined
    const machine = { cpus: quantityUnits(capacity['cpu']), memoryBytes: quantityUnits(capacity['memory']) }
    this.stats = new NodeStats({ runtime, host, pods: () => [...this.#pods.all()], nodeName, machine, clock })
    const podOf = (uid: string) => this.#find(uid)
    this.#static =
      host.manifests.length === 0
        ? undefined
        : new StaticPods({
            client,
            clock,
            log,
            nodeName,
            sources: host.manifests,
            digest: host.digest,
            present: (key) => this.#pods.get(key),
            onChange: (uid) => this.#wake(uid, this.#find(uid), noCause),
          })
    this.#volumes = volumes
    this.#follower =
      volumes && watches && new VolumeFollower({ volumes, watches, objects, pod: podOf, events, clock, log })
    const memoryCapacityBytes = quantityUnits(capacity['memory'])
    const maker = new PodMaker({ ...host, cgroups, objects, volumes, node, memoryCapacityBytes })
    const tell = podEvents(events)
    const own = { ...parts, reach: host.reach, nodeName, hostIp, objects, maker, tell }
    this.#probes = new Probes({ ...own, onVerdict: (uid, cause) => this.#queue.add(uid, cause) })
    const refusal = async (wanted: Pod, ctx: Context) => {
      const pressed = this.#keeper.refusal(wanted)
      if (pressed !== undefined) return pressed
      // What a pod asks of its node's labels is rare; the node is asked for only then.
      const { nodeSelector, affinity } = wanted.spec
      const registered = (nodeSelector ?? affinity?.nodeAffinity) ? await objects.node(ctx) : undefined
      const labelled = registered ?? { metadata: { name: nodeName } }
      const { operatingSystem } = description
      return refusalOf({ pod: wanted, node: labelled, allocatable, operatingSystem, others: this.#taken(wanted) })
    }
    const pods = () => [...this.#pods.all()]
    const resizer = new Resizer({ runtime, cgroups, allocatable, memoryCapacityBytes, pods })
    this.#worker = new PodWorker({ ...own, probes: this.#probes, statics: this.#static, refusal, resizer })
    this.#keeper = new NodeKeeper({
      ...parts,
      settings: parts.settings ?? defaultSettings,
      stats: this.stats,
      pods,
      node: (context) => objects.node(context),
      tell,
      events,
      condemn: (uid, verdict) => {
        this.#worker.condemn(uid, verdict)
        this.#queue.add(uid)
      },
    })
  }

  start(tasks: TaskGroup): void {
    const { runtime } = this.#parts
    // Work is keyed by uid: a pod deleted and made again under its name is another pod.
    this.#pods.addIndex('uid', ({ metadata }) => [metadata.uid])
    this.#pods.onChange(({ now, before, cause }) => {
      const either = now ?? before
      if (either !== undefined && isMirror(either)) {
        const uid = this.#static?.mirrored(either)
        if (uid !== undefined) return this.#queue.add(uid, cause)
        // Nobody stands behind it any more: it goes as a pod goes that never ran.
        if (this.#static === undefined) return
      }
      if (before !== undefined && before.metadata.uid !== now?.metadata.uid) {
        this.#wake(before.metadata.uid, undefined, cause)
        this.#follower?.leave(before.metadata.uid)
      }
      if (now === undefined) return
      this.#wake(now.metadata.uid, now, cause)
      this.#follower?.see(now, cause)
    })
    const leave = runtime.onChange((uid) => this.#queue.add(uid))
    tasks.signal.addEventListener(
      'abort',
      () => {
        leave()
        this.#probes.close()
        this.#queue.close()
        for (const { ended } of this.#syncs.values()) ended.abort(tasks.signal.reason)
      },
      { once: true },
    )
    tasks.start('heartbeat', (signal) => beat({ ...this.#parts, pressures: () => this.#keeper.pressures }, signal))
    this.#keeper.start(tasks)
    tasks.start('pods', (signal) => this.#pods.run(signal))
    const follower = this.#follower
    if (follower !== undefined) tasks.start('volumes', (signal) => follower.run(signal))
    tasks.start('clean up', (signal) => this.#wakeLeftovers(signal))
    const statics = this.#static
    if (statics !== undefined) tasks.start('static pods', (signal) => statics.run(signal))
    tasks.start('pod workers', (signal) => this.#work(tasks, signal))
  }

  /** What is done for another purpose than the pod's present one is not brought to its end: an image is not waited for. */
  #wake(uid: string, now: Pod | undefined, cause: Work<string>['cause']): void {
    this.#queue.add(uid, cause)
    const sync = this.#syncs.get(uid)
    if (sync !== undefined && sync.purpose !== purposeOf(now)) sync.ended.abort()
  }

  /** The other pods that hold something of the node. */
  #taken({ metadata: { uid } }: Pod): Pod[] {
    return [...this.#pods.all()]
      .filter(
        (other) =>
          other.metadata.uid !== uid &&
          other.status.startTime !== undefined &&
          !isPodFinished(other) &&
          !this.#static?.mirrored(other),
      )
      .concat(this.#static?.others(uid) ?? [])
  }

  #find(uid: string): Pod | undefined {
    return this.#static?.find(uid) ?? this.#pods.objects('uid', uid)[0]
  }

  // Pods that ended while no kubelet ran still have a sandbox, or something on the disk.
  async #wakeLeftovers(signal: AbortSignal): Promise<void> {
    await this.#pods.synced
    const left = [await this.#parts.runtime.podUids(signal), (await this.#volumes?.podUids()) ?? []]
    for (const uid of left.flat()) this.#queue.add(uid)
  }

  /** Each pod is worked on by itself: one that takes its time to end holds up no other. */
  async #work(tasks: TaskGroup, signal: AbortSignal): Promise<void> {
    await this.#pods.synced
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const taken = work
      tasks.start(`pod ${taken.key}`, () => this.#sync(taken))
    }
  }

  async #sync({ key: uid, cause }: Work<string>): Promise<void> {
    const { flow, log, description } = this.#parts
    const wanted = this.#find(uid)
    const participant = `kubelet/${description.name}`
    const subject = wanted === undefined ? undefined : { resource: 'pods', ...splitKey(keyOf(wanted)) }
    const what = cause === noCause ? 'the runtime changed' : 'sync pod'
    const step = flow.record('reconcile', participant, participant, what, subject, 0, cause)
    const ended = new AbortController()
    this.#syncs.set(uid, { purpose: purposeOf(wanted), ended })
    try {
      const own = { ...causeOf(step), revisions: cause.revisions }
      const againMs = await this.#worker.sync(uid, wanted, context(ended.signal, own))
      if (againMs !== undefined) this.#queue.addAfter(uid, againMs, own)
      this.#queue.forget(uid)
    } catch (error) {
      if (ended.signal.aborted) return
      log.debug('a pod could not be synced', { uid, error: errorText(error) })
      this.#queue.retry(uid, cause)
    } finally {
      this.#syncs.delete(uid)
      this.#queue.done(uid)
    }
  }
}

/** To run, or to end within a grace; whoever shortens the grace changes the purpose. */
const purposeOf = (wanted: Pod | undefined): string =>
  wanted === undefined
    ? 'gone'
    : isBeingDeleted(wanted)
      ? `end in ${wanted.metadata.deletionGracePeriodSeconds ?? ''}`
      : 'run'
