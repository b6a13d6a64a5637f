// Reconciler: the work queue, workers, retries, metrics and flow records of everything that keeps something equal to API
// objects: controllers, sidecars of CSI drivers, provisioners, and the controllers of Ingresses and Gateways.
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { context, type Context } from '../../base/observability/context.ts'
import {
  causeOf,
  mergeCauses,
  noCause,
  type Cause,
  type FlowId,
  type FlowRecorder,
} from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkQueue, type Backoff, type Work } from '../../base/work/work-queue.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { splitKey } from '../../api/meta/object.ts'
import { collectQueue, queueSeries, type QueueMetrics, type QueueSeries } from './queue-metrics.ts'
import { pauseIfDue } from './turn-pause.ts'

export interface ReconcilerOptions {
  /** In metrics, log entries and the names of tasks. */
  readonly name: string
  /** How many keys are reconciled at a time. */
  readonly workers: number
  /** How long failed keys wait; 5 ms doubling to 1,000 s when left out. */
  readonly backoff?: Backoff
  /** Records each reconcile as a flow event. Left out where `reconcile` records something more precise. */
  readonly recordedAs?: ReconcileRecords
  /** Whether a requeued reconcile is not an effect of the one that requeued it, but of the time. */
  readonly isPeriodic?: boolean
  /** Whether a key is added once for all changes of a turn of the event loop: for a key that stands for many objects. */
  readonly isBatched?: boolean
  /** The log entry of a failure. */
  readonly failureMessage?: string
}

/** How reconciles are recorded. */
export interface ReconcileRecords {
  readonly flow: FlowRecorder
  readonly participant: string
  /** The kind of the keys, if they are keys of objects. */
  readonly kind?: Kind | undefined
}

export interface ReconcilerDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics?: QueueMetrics
}

/** Returns after how many milliseconds the key is reconciled again even if nothing changes. */
export type Reconcile = (key: string, context: Context) => Promise<number | undefined>

/**
 * Reconciles the keys that are added, each from the current state of the caches:
 *
 * - *Order.* One worker at a time has a key. A key that is added twice before its turn is reconciled once, with both
 *   causes. A key that is added while a worker has it is reconciled again afterwards.
 * - *Requeue.* A key whose reconcile returns a time is added again after that time; the earlier of two times counts. A
 *   change in the meantime adds the key at once and does not cancel the requeue.
 * - *Errors.* A key whose reconcile throws is added again after its backoff, without a limit of attempts. The backoff
 *   doubles with each failure and is reset by a success. A change adds the key at once and does not reset it. Other keys
 *   are not delayed. An error is logged unless it is a conflict with another writer, whose result the next reconcile
 *   reads. What must not be retried must not be thrown.
 * - *Stop.* When the task group stops, no further key is handed out, workers no longer wait for `ready`, and errors of reconciles in progress are ignored.
 *   Nothing is persisted: the next process adds all keys when its informers have listed their objects.
 * - *Event loop.* Workers pause between keys when the reconcilers of this process have used up their time in a turn.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions
  readonly #deps: ReconcilerDeps
  readonly #queue: WorkQueue<string>
  readonly #series: QueueSeries | undefined
  /** The causes of keys that are added at the end of this turn. */
  readonly #batch = new Map<string, Cause>()

  constructor(options: ReconcilerOptions, deps: ReconcilerDeps) {
    this.#options = options
    this.#deps = deps
    this.#queue = new WorkQueue(deps.clock, options.backoff)
    this.#series = deps.metrics && queueSeries(options.name, deps.metrics)
  }

  add(key: string, cause: Cause = noCause): void {
    if (this.#options.isBatched !== true) return this.#queue.add(key, cause)
    const others = this.#batch.get(key)
    this.#batch.set(key, others === undefined ? cause : mergeCauses([others, cause]))
    if (others === undefined) void this.#deps.clock.outside(eventLoopTurn()).then(() => this.#addBatch(key))
  }

  /** Adds the key after a delay. */
  addAfter(key: string, delayMs: number, cause: Cause = noCause): void {
    this.#queue.addAfter(key, delayMs, cause)
  }

  /** Starts the workers in the task group. They take keys when `ready`, which is called once, has resolved. */
  start(reconcile: Reconcile, ready: (signal: AbortSignal) => Promise<void>, tasks: TaskGroup): void {
    const { name, workers } = this.#options
    const { clock, metrics } = this.#deps
    const series = this.#series
    const removeCollector = series && metrics?.beforeText(() => collectQueue(series, this.#queue.depth, clock.nowMs()))
    tasks.signal.addEventListener(
      'abort',
      () => {
        this.#queue.close()
        removeCollector?.()
      },
      { once: true },
    )
    let isReady: Promise<void> | undefined
    for (let worker = 0; worker < workers; worker++)
      tasks.start(`${name} worker ${worker}`, async (signal) => {
        await unlessAborted((isReady ??= ready(signal)), signal)
        for (let work = await this.#queue.take(signal); work !== undefined; work = await this.#queue.take(signal)) {
          await this.#run(reconcile, work, signal)
          const pause = pauseIfDue(clock)
          if (pause !== undefined) await pause
        }
      })
  }

  async #run(reconcile: Reconcile, { key, cause, addedMs }: Work<string>, signal: AbortSignal): Promise<void> {
    const { name, isPeriodic, recordedAs, failureMessage = 'a reconcile failed and will be retried' } = this.#options
    const { clock, log } = this.#deps
    const record = recordedAs && recordOf(key, cause, recordedAs)
    const own = record === undefined ? cause : { ...causeOf(record), revisions: cause.revisions }
    const finish = (outcome: string) => record !== undefined && recordedAs?.flow.finish(record, outcome)
    const startedMs = clock.nowMs()
    this.#series?.adds.add(1)
    this.#series?.startedMs.set(key, startedMs)
    this.#series?.waitSeconds.observe((startedMs - addedMs) / 1000)
    try {
      const againMs = await reconcile(key, context(signal, own))
      finish('done')
      this.#queue.forget(key)
      if (againMs !== undefined) this.#queue.addAfter(key, againMs, isPeriodic === true ? noCause : own)
    } catch (error) {
      if (!signal.aborted) {
        finish(errorText(error))
        this.#series?.retries.add(1)
        if (!isConflict(error)) log.warn(failureMessage, { controller: name, key, error })
        this.#queue.retry(key, cause)
      }
    } finally {
      this.#series?.startedMs.delete(key)
      this.#series?.workSeconds.observe((clock.nowMs() - startedMs) / 1000)
      this.#queue.done(key)
    }
  }

  #addBatch(key: string): void {
    this.#queue.add(key, this.#batch.get(key))
    this.#batch.delete(key)
  }
}

function recordOf(key: string, cause: Cause, { flow, participant, kind }: ReconcileRecords): FlowId {
  const subject = kind === undefined ? undefined : { resource: kind.plural, ...splitKey(key) }
  return flow.record('reconcile', participant, participant, `reconcile ${key}`, subject, 0, cause)
}

// Another writer was faster. The retry reads its result, so this is not logged as a failure.
const isConflict = (error: unknown): boolean =>
  (['Conflict', 'AlreadyExists', 'NotFound'] as const).some((reason) => hasReason(error, reason))
