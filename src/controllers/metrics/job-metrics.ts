// JobMetrics: the metrics of the Job controller, under upstream's names.
import type { Counter, Histogram, Metrics } from '../../base/observability/metrics.ts'

/** 4 ms, doubled 14 times. */
const secondsBounds = Array.from({ length: 15 }, (_, index) => (4 * 2 ** index) / 1000)

const createdHelp = `[ALPHA] The number of Pods created by the Job controller labelled with a reason for the Pod creation.
This metric also distinguishes between Pods created using different PodReplacementPolicy settings.
Possible values of the "reason" label are:
"new", "recreate_terminating_or_failed", "recreate_failed".
Possible values of the "status" label are:
"succeeded", "failed".`

/** What one reconcile of a Job did. */
export interface JobSync {
  readonly action: 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted'
  readonly completionMode: string
  readonly isFailed: boolean
  readonly seconds: number
  readonly creates: { readonly succeeded: number; readonly failed: number }
  /** Why pods are created. */
  readonly createReason: 'new' | 'recreate_failed' | 'recreate_terminating_or_failed'
  /** Pods that were counted for the first time. */
  readonly succeeded: number
  readonly failed: number
  /** The final condition, if it was set. */
  readonly finished: { readonly isSucceeded: boolean; readonly reason: string } | undefined
}

export class JobMetrics {
  readonly #syncs: Counter
  readonly #seconds: Histogram
  readonly #pods: Counter
  readonly #finished: Counter
  readonly #created: Counter

  constructor(metrics: Metrics) {
    const labels = ['action', 'completion_mode', 'result']
    const named = (name: string) => `job_controller_${name}`
    this.#syncs = metrics.counter(named('job_syncs_total'), '[STABLE] The number of job syncs', labels)
    this.#seconds = metrics.histogram(
      named('job_sync_duration_seconds'),
      '[STABLE] The time it took to sync a job',
      secondsBounds,
      labels,
    )
    this.#pods = metrics.counter(
      named('job_pods_finished_total'),
      '[STABLE] The number of finished Pods that are fully tracked',
      ['completion_mode', 'result'],
    )
    this.#finished = metrics.counter(named('jobs_finished_total'), '[STABLE] The number of finished jobs', [
      'completion_mode',
      'reason',
      'result',
    ])
    this.#created = metrics.counter(named('job_pods_creation_total'), createdHelp, ['reason', 'status'])
  }

  synced(sync: JobSync): void {
    this.#countSync(sync)
    this.#countCreates(sync)
  }

  #countCreates({ createReason: reason, creates: { succeeded, failed } }: JobSync): void {
    if (succeeded > 0) this.#created.add({ reason, status: 'succeeded' }, succeeded)
    if (failed > 0) this.#created.add({ reason, status: 'failed' }, failed)
  }

  #countSync({
    action,
    completionMode: completion_mode,
    isFailed,
    seconds,
    succeeded,
    failed,
    finished,
  }: JobSync): void {
    const labels = { action, completion_mode, result: isFailed ? 'error' : 'success' }
    this.#syncs.add(labels)
    this.#seconds.observe(labels, seconds)
    this.#pods.add({ completion_mode, result: 'succeeded' }, succeeded)
    this.#pods.add({ completion_mode, result: 'failed' }, failed)
    if (finished === undefined) return
    const { isSucceeded, reason } = finished
    this.#finished.add({ completion_mode, reason, result: isSucceeded ? 'succeeded' : 'failed' })
  }
}
