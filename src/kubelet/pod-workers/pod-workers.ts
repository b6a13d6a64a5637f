// PodWorkers: decides when pods are synced. Every pod is synced by itself, one sync at a time; a sync is aborted when
// the pod's goal changes (to run, or to terminate within a grace period).
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, noCause, type Cause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { WorkQueue, type Work } from '../../base/work/work-queue.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { PodSyncStates } from '../pod/pod-sync-state.ts'
import type { PodSyncer } from './pod-syncer.ts'
import { subjectOf, subjectOfCause } from '../events/record-call.ts'

export interface PodWorkersDeps {
  readonly states: Pick<PodSyncStates, 'hasReported'>
  /** The current pod; undefined when it should no longer exist. */
  readonly find: (uid: string) => Pod | undefined
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  readonly nodeName: string
}

/** A version of a pod that was observed while it was being synced. */
interface ObservedVersion {
  readonly version: string
  readonly cause: Cause
}

/** A sync in progress: its goal, and the controller that aborts it. */
interface RunningSync {
  readonly goal: string
  readonly ended: AbortController
  /**
   * Versions that were observed during the sync. The update of its own status is observed before the response to that
   * request, so they are evaluated after the sync.
   */
  observed: ObservedVersion[] | undefined
}

// Keyed by uid, because a pod that is created again under the same name is another pod.
export class PodWorkers {
  readonly #deps: PodWorkersDeps
  readonly #participant: string
  readonly #queue: WorkQueue<string>
  readonly #syncs = new Map<string, RunningSync>()

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps
    this.#participant = `kubelet/${deps.nodeName}`
    this.#queue = new WorkQueue(deps.clock)
  }

  /** Enqueues a pod after a change of its containers or of a probe result. */
  enqueue(uid: string, cause: Cause = noCause): void {
    this.#queue.add(uid, cause)
  }

  /**
   * The pod object was changed or removed. A change of the goal aborts the current sync, so that a terminating pod does
   * not wait for an image.
   */
  podChanged(uid: string, now: Pod | undefined, cause: Cause): void {
    const version = now?.metadata.resourceVersion
    // A pod worker is not woken by its own status updates.
    if (version !== undefined && this.#deps.states.hasReported(uid, version)) return
    const sync = this.#syncs.get(uid)
    if (sync !== undefined && version !== undefined && sync.goal === goalOf(now)) {
      ;(sync.observed ??= []).push({ version, cause })
      return
    }
    this.#queue.add(uid, cause)
    sync?.ended.abort()
  }

  /** The node terminates the pod: the current sync, which may wait for an image, is aborted. */
  interrupt(uid: string): void {
    this.#queue.add(uid)
    this.#syncs.get(uid)?.ended.abort()
  }

  /** Starts syncs until the signal is aborted; a slow one does not delay those of other pods. */
  async run(syncer: Pick<PodSyncer, 'sync'>, tasks: TaskGroup, signal: AbortSignal): Promise<void> {
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const taken = work
      tasks.start(`pod ${taken.key}`, () => this.#sync(syncer, taken))
    }
  }

  close(reason: unknown): void {
    this.#queue.close()
    for (const { ended } of this.#syncs.values()) ended.abort(reason)
  }

  async #sync(syncer: Pick<PodSyncer, 'sync'>, { key: uid, cause }: Work<string>): Promise<void> {
    const { states, find, flow, log } = this.#deps
    const wanted = find(uid)
    const subject = wanted === undefined ? subjectOfCause(flow, cause) : subjectOf(wanted)
    const what = cause === noCause ? 'the runtime changed' : 'sync pod'
    const step = flow.record('reconcile', this.#participant, this.#participant, what, subject, 0, cause)
    const ended = new AbortController()
    const sync: RunningSync = { goal: goalOf(wanted), ended, observed: undefined }
    this.#syncs.set(uid, sync)
    try {
      const own = { ...causeOf(step), revisions: cause.revisions }
      const againMs = await syncer.sync(uid, wanted, context(ended.signal, own), () => this.#queue.acknowledge(uid))
      if (againMs !== undefined) this.#queue.addAfter(uid, againMs, own)
      this.#queue.forget(uid)
    } catch (error) {
      if (ended.signal.aborted) return
      log.debug('a pod could not be synced', { uid, error: errorText(error) })
      this.#queue.retry(uid, cause)
    } finally {
      this.#syncs.delete(uid)
      for (const observed of sync.observed ?? [])
        if (!states.hasReported(uid, observed.version)) this.#queue.add(uid, observed.cause)
      this.#queue.done(uid)
    }
  }
}

/** The goal of a sync; a shorter grace period is a different goal. */
const goalOf = (wanted: Pod | undefined): string =>
  wanted === undefined
    ? 'gone'
    : isBeingDeleted(wanted)
      ? `end in ${wanted.metadata.deletionGracePeriodSeconds ?? ''}`
      : 'run'
