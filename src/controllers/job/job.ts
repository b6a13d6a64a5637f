// Job: runs pods until enough of them have succeeded; each pod is counted exactly once.
import { rfc3339 } from '../../base/time/clock.ts'
import { hasJobCondition, job, type Job, type JobStatus } from '../../api/batch/v1/job.ts'
import { isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import { selects } from '../../api/selectors/selectors.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { isPodActive, isPodTerminating, requeueAfter } from '../workload/pod-availability.ts'
import { defineController, type Plan, type PlanView } from '../runtime/controller.ts'
import { podsBurstMax, waitingPods } from '../workload/pod-burst.ts'
import { deletePod } from '../workload/pod-from-template.ts'
import { accountPods, releasePod, tallyPods } from './pod-accounting.ts'
import { deadlineLeftMs, finalTypes, interimTypes, outcomeOf, withJobCondition, type Outcome } from './job-outcome.ts'
import { adjustParallelism } from './parallelism.ts'
import { isTracked } from './job-pods.ts'
import { syncOf } from './job-sync.ts'

const ownManager = 'kubernetes.io/job-controller'

export const jobController = defineController<Job>({
  name: 'job',
  account: 'job-controller',
  reconciles: job,
  owns: [pod],
  indexes: [waitingPods],
  claims: (object, { metadata }) => isOurs(object) && selects(object.spec.selector, metadata.labels),
  plan(object, view) {
    if (!isOurs(object)) return { changes: [] }
    const pods = view.owned(pod)
    // Pods that were not counted when the Job finished will not be counted.
    if (isFinished(object)) return { changes: pods.filter(isTracked).map(releasePod) }
    return isBeingDeleted(object)
      ? { changes: accountPods(object, pods, tallyPods(object, pods), { outcome: undefined }).changes }
      : planRunning(object, pods, view)
  },
  measure(applied, { job: metrics }) {
    if (isOurs(applied.object)) metrics.synced(syncOf(applied))
  },
})

/** Whether the Job is managed by this controller. */
const isOurs = ({ spec: { managedBy } }: Job): boolean => managedBy === undefined || managedBy === ownManager

export const isFinished = (object: Job): boolean =>
  hasJobCondition(object, 'Complete') || hasJobCondition(object, 'Failed')

function planRunning(object: Job, pods: readonly Pod[], view: PlanView): Plan {
  const { nowMs } = view
  const started = withStart(object, nowMs)
  const active = pods.filter(isPodActive)
  const counts = tallyPods(started, pods)
  const outcome = outcomeOf(started, pods, counts, active.length, nowMs)
  const accounts = accountPods(started, pods, counts, { outcome: outcome?.kind })
  const adjusted =
    outcome === undefined
      ? adjustParallelism(started, pods, active, counts, view)
      : { changes: active.slice(0, podsBurstMax).map(deletePod), waitMs: undefined }
  const terminating = pods.filter(isPodTerminating).length
  const status = withPodCounts(accounts.status, active, terminating)
  const isOver = outcome !== undefined && accounts.isSettled && active.length + terminating === 0
  const concluded = withOutcome(object, status, outcome, isOver, nowMs)
  return {
    changes: [...accounts.changes, ...adjusted.changes],
    status: concluded.status,
    events: concluded.events,
    ...requeueAfter(outcome === undefined ? deadlineLeftMs(started, nowMs) : undefined, adjusted.waitMs),
  }
}

/** Sets the start time when the Job is first reconciled while not suspended, and again when it is resumed. */
function withStart(object: Job, nowMs: number): Job {
  const { spec, status } = object
  const isResumed = hasJobCondition(object, 'Suspended') && !spec.suspend
  if (spec.suspend || (status.startTime !== undefined && !isResumed)) return object
  return { ...object, status: { ...status, startTime: rfc3339(nowMs) } }
}

function withPodCounts(status: JobStatus, active: readonly Pod[], terminating: number): JobStatus {
  const { active: _, ...kept } = status
  return {
    ...kept,
    ...(active.length === 0 ? {} : { active: active.length }),
    ready: active.filter(isPodReady).length,
    terminating,
  }
}

/** Sets the interim condition first; the final one when no pod runs and all are counted. */
function withOutcome(
  object: Job,
  status: JobStatus,
  outcome: Outcome | undefined,
  isOver: boolean,
  nowMs: number,
): { status: JobStatus; events: EventNote[] } {
  const before = status.conditions ?? []
  if (outcome === undefined) return withSuspension(object, status, nowMs)
  const { kind, reason, message } = outcome
  const interim = withJobCondition(before, { type: interimTypes[kind], reason, message }, nowMs)
  if (!isOver) return { status: { ...status, conditions: interim }, events: [] }
  const conditions = withJobCondition(interim, { type: finalTypes[kind], reason, message }, nowMs)
  return kind === 'succeeds'
    ? {
        status: { ...status, conditions, completionTime: rfc3339(nowMs) },
        events: [{ type: 'Normal', reason: 'Completed', message: 'Job completed' }],
      }
    : { status: { ...status, conditions }, events: [{ type: 'Warning', reason, message }] }
}

function withSuspension({ spec }: Job, status: JobStatus, nowMs: number): { status: JobStatus; events: EventNote[] } {
  const before = status.conditions ?? []
  const [word, value] = spec.suspend ? ['Suspended', 'True'] : ['Resumed', 'False']
  const message = `Job ${word.toLowerCase()}`
  const conditions = withJobCondition(
    before,
    { type: 'Suspended', status: value, reason: `Job${word}`, message },
    nowMs,
  )
  if (conditions === before) return { status, events: [] }
  return { status: { ...status, conditions }, events: [{ type: 'Normal', reason: word, message }] }
}
