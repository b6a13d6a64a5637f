// CronJob: creates Jobs according to the schedule and the concurrency policy, and deletes old ones.
import { rfc3339 } from '../../base/time/clock.ts'
import { cronJob, type CronJob } from '../../api/batch/v1/cron-job.ts'
import type { CronJobStatus } from '../../api/batch/v1/cron-job-spec.ts'
import { hasJobCondition, job, type Job } from '../../api/batch/v1/job.ts'
import type { ObjectReference } from '../../api/core/v1/references.ts'
import { isBeingDeleted, namespaceOf, objectKey } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { defineController, type Change, type Plan, type PlanView } from '../runtime/controller.ts'
import { missedRuns, type Missed } from './missed-runs.ts'
import { parseSchedule, type Schedule } from '../../api/batch/schedule/schedule.ts'
import { zoneOffset } from '../../api/batch/schedule/time-zone.ts'
import { secondsAsMs } from '../../schema/scalar/int64.ts'

/** Added to the scheduled time, so that the reconcile does not come too early. */
const dueDelayMs = 100
const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

export const cronJobController = defineController<CronJob>({
  name: 'cron-job',
  account: 'cronjob-controller',
  reconciles: cronJob,
  owns: [job],
  plan(object, view) {
    const jobs = view.owned(job)
    const known = withJobs(object, jobs)
    const surplus = surplusJobs(object, jobs)
    if (isBeingDeleted(object)) return { changes: [], status: known.status, events: known.events }
    const due = planDue({ ...object, status: known.status }, jobs, view)
    return {
      changes: [...surplus.map(deleteJob), ...due.changes],
      status: due.status,
      statusOnFailure: () => known.status,
      events: [...known.events, ...(due.events ?? [])],
      ...(due.requeueAfterMs === undefined ? {} : { requeueAfterMs: due.requeueAfterMs }),
    }
  },
  measure({ plan, failure, nowMs }, { cronJobSkewSeconds }) {
    const { lastScheduleTime } = (plan.status ?? {}) as CronJobStatus
    const isCreated = failure === undefined && plan.changes.some(({ kind }) => kind === 'create')
    if (isCreated && lastScheduleTime !== undefined)
      cronJobSkewSeconds.observe({}, (nowMs - Date.parse(lastScheduleTime)) / 1000)
  },
})

const isFinished = (object: Job): boolean => hasJobCondition(object, 'Complete') || hasJobCondition(object, 'Failed')

/** The status updated from the Jobs: which are active, and when one last succeeded. */
function withJobs({ status }: CronJob, jobs: readonly Job[]): { status: CronJobStatus; events: EventNote[] } {
  const events: EventNote[] = []
  const active: ObjectReference[] = []
  for (const reference of status.active ?? []) {
    const found = jobs.find((each) => each.metadata.uid === reference.uid)
    if (found === undefined)
      events.push({ type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${reference.name}` })
    else if (isFinished(found)) events.push(completedNote(found))
    else active.push(reference)
  }
  const listed = new Set((status.active ?? []).map(({ uid }) => uid))
  for (const each of jobs.filter((candidate) => !listed.has(candidate.metadata.uid) && !isFinished(candidate))) {
    // A Job with the annotation was created by a reconcile that did not write the status. Other Jobs are not ours.
    if (each.metadata.annotations?.[scheduledAnnotation] !== undefined) active.push(referenceTo(each))
    else
      events.push({
        type: 'Warning',
        reason: 'UnexpectedJob',
        message: `Saw a job that the controller did not create or forgot: ${each.metadata.name}`,
      })
  }
  const successes = [
    status.lastSuccessfulTime,
    ...jobs.filter((each) => hasJobCondition(each, 'Complete')).map((each) => each.status.completionTime),
  ].filter((time) => time !== undefined)
  const { active: _, lastSuccessfulTime: __, ...kept } = status
  return {
    status: {
      ...kept,
      ...(active.length === 0 ? {} : { active }),
      ...(successes.length === 0 ? {} : { lastSuccessfulTime: successes.toSorted().at(-1) ?? '' }),
    },
    events,
  }
}

const completedNote = (object: Job): EventNote => ({
  type: 'Normal',
  reason: 'SawCompletedJob',
  message: `Saw completed job: ${object.metadata.name}, condition: ${hasJobCondition(object, 'Complete') ? 'Complete' : 'Failed'}`,
})

const referenceTo = ({
  apiVersion,
  kind,
  metadata: { name, namespace = '', uid, resourceVersion },
}: Job): ObjectReference => ({
  apiVersion,
  kind,
  name,
  namespace,
  uid,
  resourceVersion,
})

type Due = Pick<Plan, 'changes' | 'status' | 'events' | 'requeueAfterMs'>

function planDue(object: CronJob, jobs: readonly Job[], view: PlanView): Due {
  const { spec, status } = object
  const warn = (reason: string, message: string): Due => ({
    changes: [],
    status,
    events: [{ type: 'Warning', reason, message }],
  })
  if (spec.timeZone !== undefined && zoneOffset(spec.timeZone) === undefined)
    return warn(
      'UnknownTimeZone',
      `invalid timeZone: ${JSON.stringify(spec.timeZone)}: unknown time zone ${spec.timeZone}`,
    )
  if (spec.suspend) return { changes: [], status }
  const schedule = parseSchedule(spec.schedule, spec.timeZone)
  if (schedule === undefined)
    return warn('UnparseableSchedule', `unparseable schedule: ${JSON.stringify(spec.schedule)}`)
  const missed = missedRuns(object, schedule, view.nowMs)
  return { ...startDue(object, jobs, missed, view), ...nextRequeue(schedule, view.nowMs) }
}

function nextRequeue(schedule: Schedule, nowMs: number): { requeueAfterMs?: number } {
  const nextMs = schedule.next(nowMs)
  return nextMs === undefined ? {} : { requeueAfterMs: nextMs - nowMs + dueDelayMs }
}

function startDue(object: CronJob, jobs: readonly Job[], { lastMs, isTooMany, count }: Missed, view: PlanView): Due {
  const { spec, status } = object
  const events: EventNote[] = isTooMany
    ? [
        {
          type: 'Warning',
          reason: 'TooManyMissedTimes',
          message: `too many missed start times: ${count}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`,
        },
      ]
    : []
  if (lastMs === undefined) return { changes: [], status, events }
  const { startingDeadlineSeconds } = spec
  if (startingDeadlineSeconds !== undefined && lastMs + secondsAsMs(startingDeadlineSeconds) < view.nowMs)
    return { changes: [], status, events: [...events, missedNote(lastMs)] }
  const name = jobName(object, lastMs)
  const started: CronJobStatus = { ...status, lastScheduleTime: rfc3339(lastMs) }
  // Created by a reconcile that did not write the status.
  if (view.find(job, objectKey(namespaceOf(object), name)) !== undefined)
    return { changes: [], status: started, events }
  const active = new Set((status.active ?? []).map(({ uid }) => uid))
  const running = jobs.filter(({ metadata }) => active.has(metadata.uid))
  if (spec.concurrencyPolicy === 'Forbid' && running.length > 0)
    return { changes: [], status, events: [...events, forbiddenNote] }
  const replaced = spec.concurrencyPolicy === 'Replace' ? running.filter((each) => !isBeingDeleted(each)) : []
  return { changes: [...replaced.map(deleteJob), createJob(object, name, lastMs)], status: started, events }
}

const forbiddenNote: EventNote = {
  type: 'Normal',
  reason: 'JobAlreadyActive',
  message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
}

const missedNote = (atMs: number): EventNote => ({
  type: 'Warning',
  reason: 'MissSchedule',
  message: `Missed scheduled time to start a job: ${new Date(atMs).toUTCString().replace('GMT', '+0000')}`,
})

/** The name contains the scheduled minute, so that a run cannot be created twice. */
const jobName = ({ metadata }: CronJob, atMs: number): string => `${metadata.name}-${Math.floor(atMs / 60_000)}`

function createJob({ spec }: CronJob, name: string, atMs: number): Change {
  const { metadata, spec: jobSpec } = spec.jobTemplate
  const annotations = { ...metadata.annotations, [scheduledAnnotation]: localTime(atMs, spec.timeZone) }
  return {
    kind: 'create',
    of: job,
    object: {
      metadata: { name, annotations, ...(metadata.labels === undefined ? {} : { labels: metadata.labels }) },
      spec: jobSpec,
    },
    event: () => ({ type: 'Normal', reason: 'SuccessfulCreate', message: `Created job ${name}` }),
    failureEvent: ({ message }) => ({
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Error creating job: ${message}`,
    }),
  }
}

/** RFC 3339 with the UTC offset of the time zone. */
function localTime(atMs: number, timeZone: string | undefined): string {
  const offsetMs = zoneOffset(timeZone ?? 'UTC')?.(atMs) ?? 0
  if (offsetMs === 0) return rfc3339(atMs)
  const minutes = Math.abs(offsetMs) / 60_000
  const pad = (value: number) => String(value).padStart(2, '0')
  const zone = `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`
  return rfc3339(atMs + offsetMs).replace('Z', zone)
}

const deleteJob = (object: Job): Change => ({
  kind: 'delete',
  of: job,
  object,
  event: ({ metadata: { name } }) => ({ type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted job ${name}` }),
  failureEvent: ({ message }) => ({ type: 'Warning', reason: 'FailedDelete', message: `Deleted job: ${message}` }),
})

/** Finished Jobs beyond the history limits, oldest first. */
function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const beyond = (type: string, limit: number) => {
    const ended = jobs
      .filter((each) => hasJobCondition(each, type) && !isBeingDeleted(each))
      .toSorted((a, b) => startOf(a) - startOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1))
    return ended.slice(0, Math.max(0, ended.length - limit))
  }
  return [...beyond('Complete', spec.successfulJobsHistoryLimit), ...beyond('Failed', spec.failedJobsHistoryLimit)]
}

const startOf = ({ status, metadata }: Job): number => Date.parse(status.startTime ?? metadata.creationTimestamp)
