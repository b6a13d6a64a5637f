// PodSyncs: which pods are to be looked at. Each pod is worked on by itself, one look at a time; a look that serves another
// purpose than the pod's present one is not brought to its end.
import type { Clock } from '../../base/time/clock.ts'
import { context } from '../../base/observability/context.ts'
import { causeOf, noCause, type Cause, type FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { WorkQueue, type Work } from '../../base/work/work-queue.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { PodSyncer } from './pod-syncer.ts'
import { subjectOf, subjectOfCause } from '../events/record-call.ts'

export interface PodWorkersDeps {
  readonly worker: Pick<PodSyncer, 'sync' | 'hasTold'>
  /** The pod as it is wanted now; undefined: nobody wants it any more. */
  readonly find: (uid: string) => Pod | undefined
  readonly clock: Clock
  readonly flow: FlowRecorder
  readonly log: Log
  readonly nodeName: string
}

/** A version of a pod that came while it was worked on. */
interface Seen {
  readonly version: string
  readonly cause: Cause
}

/** A pod that is worked on: what for, and how to stop that. */
interface Sync {
  readonly purpose: string
  readonly ended: AbortController
  /** Undefined while none has come: the worker's own words come back before it knows that they were heard. */
  seen: Seen[] | undefined
}

// Keyed by uid: a pod deleted and made again under its name is another pod.
export class PodWorkers {
  readonly #deps: PodWorkersDeps
  readonly #participant: string
  readonly #queue: WorkQueue<string>
  readonly #syncs = new Map<string, Sync>()

  constructor(deps: PodWorkersDeps) {
    this.#deps = deps
    this.#participant = `kubelet/${deps.nodeName}`
    this.#queue = new WorkQueue(deps.clock)
  }

  /** Something about the pod has changed: its containers, a probe's verdict. */
  enqueue(uid: string, cause: Cause = noCause): void {
    this.#queue.add(uid, cause)
  }

  /** The pod itself has changed, or is gone. An image is not waited for by a pod that is to end. */
  podChanged(uid: string, now: Pod | undefined, cause: Cause): void {
    const version = now?.metadata.resourceVersion
    // What the worker has told itself is no news to it.
    if (version !== undefined && this.#deps.worker.hasTold(uid, version)) return
    const sync = this.#syncs.get(uid)
    if (sync !== undefined && version !== undefined && sync.purpose === purposeOf(now)) {
      ;(sync.seen ??= []).push({ version, cause })
      return
    }
    this.#queue.add(uid, cause)
    sync?.ended.abort()
  }

  /** The node has given the pod up: whatever it waits for, an image among it, is not wanted any more. */
  interrupt(uid: string): void {
    this.#queue.add(uid)
    this.#syncs.get(uid)?.ended.abort()
  }

  /** Hands out looks until the signal ends it; one that takes its time holds up no other. */
  async run(tasks: TaskGroup, signal: AbortSignal): Promise<void> {
    for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
      const taken = work
      tasks.start(`pod ${taken.key}`, () => this.#sync(taken))
    }
  }

  close(reason: unknown): void {
    this.#queue.close()
    for (const { ended } of this.#syncs.values()) ended.abort(reason)
  }

  async #sync({ key: uid, cause }: Work<string>): Promise<void> {
    const { worker, find, flow, log } = this.#deps
    const wanted = find(uid)
    const subject = wanted === undefined ? subjectOfCause(flow, cause) : subjectOf(wanted)
    const what = cause === noCause ? 'the runtime changed' : 'sync pod'
    const step = flow.record('reconcile', this.#participant, this.#participant, what, subject, 0, cause)
    const ended = new AbortController()
    const sync: Sync = { purpose: purposeOf(wanted), ended, seen: undefined }
    this.#syncs.set(uid, sync)
    try {
      const own = { ...causeOf(step), revisions: cause.revisions }
      const againMs = await worker.sync(uid, wanted, context(ended.signal, own), () => this.#queue.acknowledge(uid))
      if (againMs !== undefined) this.#queue.addAfter(uid, againMs, own)
      this.#queue.forget(uid)
    } catch (error) {
      if (ended.signal.aborted) return
      log.debug('a pod could not be synced', { uid, error: errorText(error) })
      this.#queue.retry(uid, cause)
    } finally {
      this.#syncs.delete(uid)
      for (const seen of sync.seen ?? []) if (!worker.hasTold(uid, seen.version)) this.#queue.add(uid, seen.cause)
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
