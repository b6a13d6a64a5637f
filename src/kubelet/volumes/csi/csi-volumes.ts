// CsiVolumes: mounts the volumes of storage drivers for pods, and releases them. Decisions are in csi-steps.ts, each step
// is in its own file; operations on one volume run one after the other.
import { TaskGroup } from '../../../base/async/task-group.ts'
import { context, type Context } from '../../../base/observability/context.ts'
import type { FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../../base/observability/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { WorkQueue, type Backoff } from '../../../base/work/work-queue.ts'
import type { Client } from '../../../client/client.ts'
import type { EventRecorder } from '../../../client/events/event-recorder.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import type { CsiRegistry } from '../../plugins/csi-registry.ts'
import type { NodePaths } from '../../pod-config/node-paths.ts'
import { SerialOperations } from '../../../base/async/serial-operations.ts'
import type { BoundVolume, CsiMounts, MountedVolume, PodVolume, VolumeSources } from '../contract/volume-type.ts'
import { CsiCalls } from './csi-calls.ts'
import { CsiMounter } from './csi-mounter.ts'
import { CsiStats } from './csi-stats.ts'
import { CsiState } from './csi-state.ts'
import { isUnused } from './csi-steps.ts'
import { inlineCsiVolume, persistentCsiVolume, uniqueName } from './csi-volume.ts'
import { unpublish } from './publishing.ts'
import { foundPublications, foundStaged, removeOrphans } from './reconstruction.ts'
import { unstage } from './staging.ts'

export interface CsiVolumesDeps {
  readonly disk: Disk
  readonly paths: NodePaths
  readonly sources: VolumeSources
  readonly registry: CsiRegistry
  readonly client: Client
  readonly events: EventRecorder
  readonly nodeName: string
  readonly sha256: (text: string) => string
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
}

/** Upstream's backoff of volume operations. */
const operationBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }

export class CsiVolumes implements CsiMounts {
  readonly #deps: CsiVolumesDeps
  readonly #calls: CsiCalls
  readonly #mounter: CsiMounter
  readonly #operations = new SerialOperations()
  /** Staged volumes that may have become unused. */
  readonly #unstaging: WorkQueue<string>
  readonly state = new CsiState()
  readonly stats: CsiStats

  constructor(deps: CsiVolumesDeps) {
    this.#deps = deps
    this.#calls = new CsiCalls(deps)
    this.#mounter = new CsiMounter({ ...deps, calls: this.#calls, state: this.state })
    this.stats = new CsiStats({ calls: this.#calls, state: this.state, clock: deps.clock })
    this.#unstaging = new WorkQueue(deps.clock, operationBackoff)
    // A driver that is back can release what was left behind while it was away.
    deps.registry.onRegistered((driver) => {
      for (const staged of this.state.staged) if (staged.driver === driver) this.#unstaging.add(uniqueName(staged))
    })
  }

  /** Finds the volumes of an earlier kubelet. No volume is mounted or released before. */
  async reconstruct(): Promise<void> {
    await removeOrphans(this.#deps)
    const staged = await foundStaged(this.#deps)
    const publications = await foundPublications(this.#deps)
    this.state.reconstructed(staged, publications)
    for (const one of staged) this.#unstaging.add(uniqueName(one))
  }

  /** Releases staged volumes that are not used any more, until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const close = () => {
      this.#unstaging.close()
      this.stats.close()
    }
    signal.addEventListener('abort', close, { once: true })
    await using tasks = new TaskGroup({ signal })
    for (let work = await this.#unstaging.take(signal); work !== undefined; work = await this.#unstaging.take(signal)) {
      const { key: name, cause } = work
      // A driver that does not answer must not delay the others.
      tasks.start(`unstage ${name}`, (stop) => this.#tryUnstage(name, context(stop, cause)))
    }
  }

  async #tryUnstage(name: string, ctx: Context): Promise<void> {
    try {
      await this.#operations.run(name, () => this.#unstageUnused(name, ctx))
      this.#unstaging.forget(name)
    } catch (error) {
      if (ctx.signal.aborted) return
      this.#deps.log.debug('a volume could not be unstaged', { volume: name, error: errorText(error) })
      this.#unstaging.retry(name, ctx.cause)
    } finally {
      this.#unstaging.done(name)
    }
  }

  mountPersistent(bound: BoundVolume, work: PodVolume, ctx: Context): Promise<MountedVolume> {
    const volume = persistentCsiVolume(bound.volume, bound.readOnly)
    return this.#operations.run(uniqueName(volume), () => this.#mounter.mount(volume, bound, work, ctx))
  }

  mountInline(work: PodVolume, ctx: Context): Promise<MountedVolume> {
    const volume = inlineCsiVolume(work.pod, work.volume, this.#deps.sha256)
    return this.#operations.run(uniqueName(volume), () => this.#mounter.mount(volume, undefined, work, ctx))
  }

  async unmountPod(podUid: string, ctx: Context): Promise<void> {
    const deps = { disk: this.#deps.disk, calls: this.#calls, state: this.state }
    this.stats.removePod(podUid)
    const needed = this.state.removeUser(podUid)
    const publications = this.state.publicationsOfPod(podUid)
    const results = await Promise.allSettled(
      publications.map((publication) =>
        this.#operations.run(uniqueName(publication), () => unpublish(deps, publication, ctx)),
      ),
    )
    for (const name of [...needed, ...publications.map(uniqueName)]) this.#unstaging.add(name, ctx.cause)
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #unstageUnused(name: string, ctx: Context): Promise<void> {
    const { state } = this
    const staged = state.findStaged(name)
    if (staged === undefined) return
    const publications = state.publicationsOfVolume(name).length
    if (!isUnused({ publications, users: state.userCount(name) })) return
    await unstage({ disk: this.#deps.disk, calls: this.#calls, state }, staged, ctx)
  }
}
