// The kubelet: the pods of one node. Changes from the API server and from the runtime wake the pod's worker.
import type { Clock } from '../base/clock.ts'
import { context } from '../base/context.ts'
import { causeOf, noCause, type FlowRecorder } from '../base/flow.ts'
import { errorText, type Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { TaskGroup } from '../base/task-group.ts'
import { WorkQueue, type Work } from '../base/work-queue.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import { keyOf, splitKey } from '../api/object.ts'
import { quantityUnits } from '../schema/quantity.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/event-recorder.ts'
import { Informer } from '../client/informer.ts'
import type { ContainerRuntime } from '../machine/runtime/runtime.ts'
import { beat } from './heartbeat.ts'
import type { NodeHost } from './node-host.ts'
import { NodeObjects } from './node-objects.ts'
import type { NodeDescription } from './node-status.ts'
import { ObjectWatches } from './object-watches.ts'
import { PodMaker } from './pod-maker.ts'
import { PodVolumes } from './pod-volumes.ts'
import { PodWorker } from './pod-worker.ts'
import { PodCgroups } from './resources/pod-cgroups.ts'
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
}

/** Pods that are worked on at once. */
const workers = 8

export class Kubelet {
  readonly #parts: KubeletParts
  readonly #queue: WorkQueue<string>
  readonly #pods: Informer<Pod>
  readonly #worker: PodWorker
  readonly #volumes: PodVolumes | undefined
  readonly #follower: VolumeFollower | undefined

  constructor(parts: KubeletParts) {
    const { client, runtime, clock, flow, log, description, host } = parts
    const nodeName = description.name
    const events = new EventRecorder(client, 'kubelet', { ...parts, host: nodeName })
    this.#parts = parts
    this.#queue = new WorkQueue(clock)
    this.#pods = new Informer<Pod>(pod, client.of(pod), { clock, log }, { fieldSelector: `spec.nodeName=${nodeName}` })
    const { hostIp, capacity } = description
    const allocatable = description.allocatable ?? capacity
    const node = { nodeName, hostIp, allocatable }
    const cgroups = new PodCgroups({ cgroups: host.cgroups, root: host.cgroupRoot, allocatable })
    const watches = host.mountsVolumes
      ? new ObjectWatches({ client, clock, log, onChange: (uid, cause) => this.#follower?.look(uid, cause) })
      : undefined
    const objects = new NodeObjects(client, clock, nodeName, watches)
    const volumes = host.mountsVolumes ? new PodVolumes({ ...host, sources: objects, node, clock }) : undefined
    const podOf = (uid: string) => this.#pods.objects('uid', uid)[0]
    this.#volumes = volumes
    this.#follower =
      volumes && watches && new VolumeFollower({ volumes, watches, objects, pod: podOf, events, clock, log })
    const memoryCapacityBytes = quantityUnits(capacity['memory'])
    const maker = new PodMaker({ ...host, cgroups, objects, volumes, node, memoryCapacityBytes })
    this.#worker = new PodWorker({ client, runtime, maker, objects, events, clock, flow, log, nodeName, hostIp })
  }

  start(tasks: TaskGroup): void {
    const { runtime } = this.#parts
    // Work is keyed by uid: a pod deleted and made again under its name is another pod.
    this.#pods.addIndex('uid', ({ metadata }) => [metadata.uid])
    this.#pods.onChange(({ now, before, cause }) => {
      if (before !== undefined && before.metadata.uid !== now?.metadata.uid) {
        this.#queue.add(before.metadata.uid, cause)
        this.#follower?.leave(before.metadata.uid)
      }
      if (now === undefined) return
      this.#queue.add(now.metadata.uid, cause)
      this.#follower?.see(now, cause)
    })
    const leave = runtime.onChange((uid) => this.#queue.add(uid))
    tasks.signal.addEventListener(
      'abort',
      () => {
        leave()
        this.#queue.close()
      },
      { once: true },
    )
    tasks.start('heartbeat', (signal) => beat(this.#parts, signal))
    tasks.start('pods', (signal) => this.#pods.run(signal))
    const follower = this.#follower
    if (follower !== undefined) tasks.start('volumes', (signal) => follower.run(signal))
    tasks.start('clean up', (signal) => this.#wakeLeftovers(signal))
    for (let worker = 0; worker < workers; worker++) tasks.start(`pod worker ${worker}`, (signal) => this.#work(signal))
  }

  // Pods that ended while no kubelet ran still have a sandbox, or something on the disk.
  async #wakeLeftovers(signal: AbortSignal): Promise<void> {
    await this.#pods.synced
    const left = [await this.#parts.runtime.podUids(signal), (await this.#volumes?.podUids()) ?? []]
    for (const uid of left.flat()) this.#queue.add(uid)
  }

  async #work(signal: AbortSignal): Promise<void> {
    await this.#pods.synced
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal))
      await this.#sync(work, signal)
  }

  async #sync({ key: uid, cause }: Work<string>, signal: AbortSignal): Promise<void> {
    const { flow, log, description } = this.#parts
    const [wanted] = this.#pods.objects('uid', uid)
    const participant = `kubelet/${description.name}`
    const subject = wanted === undefined ? undefined : { resource: 'pods', ...splitKey(keyOf(wanted)) }
    const what = cause === noCause ? 'the runtime changed' : 'sync pod'
    const step = flow.record('reconcile', participant, participant, what, subject, 0, cause)
    try {
      const own = { ...causeOf(step), revisions: cause.revisions }
      const againMs = await this.#worker.sync(uid, wanted, context(signal, own))
      if (againMs !== undefined) this.#queue.addAfter(uid, againMs, own)
      this.#queue.forget(uid)
    } catch (error) {
      if (signal.aborted) return
      log.debug('a pod could not be synced', { uid, error: errorText(error) })
      this.#queue.retry(uid, cause)
    } finally {
      this.#queue.done(uid)
    }
  }
}
