// VolumeRefresher: updates the volumes of running pods after a change of a ConfigMap, Secret or the pod, and when a
// token must be renewed, and those of storage drivers periodically. Failures are recorded as events and retried.
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Clock } from '../../base/time/clock.ts'
import { context, type Context } from '../../base/observability/context.ts'
import type { Cause } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { WorkQueue, type Backoff } from '../../base/work/work-queue.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import type { ReferencedObjects } from '../objects/referenced-objects.ts'
import type { ObjectWatches } from '../objects/object-watches.ts'
import type { VolumeManager } from './volume-manager.ts'
import { volumeTypes } from './volume-types.ts'
import { VolumeError, type VolumeType } from './contract/volume-type.ts'

export interface VolumeRefresherDeps {
  readonly volumes: VolumeManager
  readonly objects: Pick<ReferencedObjects, 'tokenRenewalMs'>
  readonly watches: ObjectWatches
  /** The current pod with this uid. */
  readonly pod: (uid: string) => Pod | undefined
  readonly events: EventRecorder
  readonly clock: Clock
  readonly log: Log
}

/** How often volumes of storage drivers are checked, as upstream syncs pods. */
const recheckMs = 60_000

const retryBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }

export class VolumeRefresher {
  readonly #deps: VolumeRefresherDeps
  readonly #queue: WorkQueue<string>
  /** When the volumes of storage drivers of a pod are checked next. */
  readonly #recheckMs = new Map<string, number>()

  constructor(deps: VolumeRefresherDeps) {
    this.#deps = deps
    const queue = new WorkQueue<string>(deps.clock, retryBackoff)
    this.#queue = queue
    deps.watches.onChange((podUid, cause) => queue.add(podUid, cause))
  }

  /** The pod was added or changed. */
  podChanged(pod: Pod, cause: Cause): void {
    if (!followsAnything(pod) && !isRechecked(pod)) return
    if (isPodFinished(pod)) return this.podRemoved(pod.metadata.uid)
    this.#deps.watches.addPod(pod)
    this.#queue.add(pod.metadata.uid, cause)
  }

  /** The pod was removed from the API; its volumes are unmounted when it is terminated. */
  podRemoved(podUid: string): void {
    this.#deps.watches.removePod(podUid)
    this.#recheckMs.delete(podUid)
  }

  /** A pod whose volumes are slow does not delay others. */
  async run(signal: AbortSignal): Promise<void> {
    await using tasks = new TaskGroup({ signal })
    const close = () => {
      this.#queue.close()
      this.#deps.watches.close()
    }
    signal.addEventListener('abort', close, { once: true })
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const { key, cause } = work
      tasks.start(`volumes of ${key}`, async (stop) => {
        await this.#refresh(key, cause, stop)
        this.#queue.done(key)
      })
    }
  }

  async #refresh(uid: string, cause: Cause, signal: AbortSignal): Promise<void> {
    const { volumes, objects, pod, events, log } = this.#deps
    const wanted = pod(uid)
    if (wanted === undefined || isPodFinished(wanted)) return this.#queue.forget(uid)
    const ctx = context(signal, cause)
    try {
      await volumes.refresh(wanted, ctx)
      await this.#recheck(wanted, ctx)
      this.#queue.forget(uid)
      const renewalMs = objects.tokenRenewalMs(uid)
      if (renewalMs !== undefined) this.#queue.addAfter(uid, renewalMs)
    } catch (error) {
      if (signal.aborted) return
      log.debug('volumes could not be refreshed', { uid, error: errorText(error) })
      if (error instanceof VolumeError)
        events.record(wanted, { type: 'Warning', reason: error.reason, message: error.message }, ctx)
      this.#queue.retry(uid, cause)
    }
  }

  /** Other changes of the pod do not cause further checks. */
  async #recheck(pod: Pod, ctx: Context): Promise<void> {
    if (!isRechecked(pod)) return
    const { uid } = pod.metadata
    const nowMs = this.#deps.clock.monotonicMs()
    const dueMs = this.#recheckMs.get(uid) ?? nowMs
    if (nowMs >= dueMs) {
      await this.#deps.volumes.recheck(pod, ctx)
      this.#recheckMs.set(uid, nowMs + recheckMs)
    }
    this.#queue.addAfter(uid, Math.max(dueMs - nowMs, 0) || recheckMs)
  }
}

/** Whether a volume of the pod is checked from time to time. */
const isRechecked = (pod: Pod): boolean => hasVolume(pod, ({ recheck }) => recheck !== undefined)

const followsAnything = (pod: Pod): boolean => hasVolume(pod, ({ tracksApiObjects }) => tracksApiObjects)

const hasVolume = ({ spec }: Pod, isMeant: (type: VolumeType) => boolean): boolean =>
  (spec.volumes ?? []).some((volume) => volumeTypes.some((type) => isMeant(type) && volume[type.name] !== undefined))
