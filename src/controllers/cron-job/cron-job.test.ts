// Tables for missed runs and the plans of CronJobs.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { withTimeLimit } from '../../base/work/time-limit.harness.ts'
import { cronJob, type CronJob } from '../../api/batch/v1/cron-job.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { firstObject, made, nowMs, planOf, shown, template } from '../runtime/plan.harness.ts'
import { cronJobController } from './cron-job.ts'
import { missedRuns } from './missed-runs.ts'
import { parseSchedule } from '../../api/batch/schedule/schedule.ts'

const createdMs = nowMs - 3_600_000
const aCron = (spec: object = {}, status: object = {}) =>
  made(cronJob, 'tick', {
    metadata: { creationTimestamp: rfc3339(createdMs) },
    spec: {
      schedule: '30 * * * *',
      jobTemplate: { spec: { template: template('1', { restartPolicy: 'Never' }) } },
      ...spec,
    },
    status,
  })
const due = Math.floor((nowMs - 1_800_000) / 60_000)
const aRun = (name: string, conditions: object[] = [], body: object = {}): Job =>
  made(job, name, {
    metadata: { annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': 'x' } },
    spec: { selector: { matchLabels: { a: 'b' } }, template: template('1', { restartPolicy: 'Never' }) },
    status: { startTime: rfc3339(nowMs), conditions },
    ...body,
  })
const complete = [{ type: 'Complete', status: 'True' }]
const failed = [{ type: 'Failed', status: 'True' }]
const ran = { lastScheduleTime: rfc3339(due * 60_000) }
const active = (name: string) => ({ active: [{ kind: 'Job', name, namespace: 'default', uid: `uid-${name}` }] })

const leaving = { ...aCron(), metadata: { ...aCron().metadata, deletionTimestamp: rfc3339(nowMs) } } as CronJob

const plans: [why: string, object: CronJob, jobs: Job[], changes: string[], events: string[]][] = [
  ['starts the run that is due', aCron(), [], [`create job tick-${due}`], []],
  ['does not start a run twice', aCron({}, ran), [], [], []],
  ['finds a run that is not in its status', aCron(), [aRun(`tick-${due}`)], [], []],
  ['does not start a run while it is suspended', aCron({ suspend: true }), [], [], []],
  ['does not start a run after the starting deadline', aCron({ startingDeadlineSeconds: 60 }), [], [], []],
  ['runs concurrently with an earlier run', aCron({}, active('old')), [aRun('old')], [`create job tick-${due}`], []],
  [
    'does not run concurrently when its policy is Forbid',
    aCron({ concurrencyPolicy: 'Forbid' }, active('old')),
    [aRun('old')],
    [],
    ['JobAlreadyActive'],
  ],
  [
    'replaces a running Job when its policy is Replace',
    aCron({ concurrencyPolicy: 'Replace' }, active('old')),
    [aRun('old')],
    ['delete job old', `create job tick-${due}`],
    [],
  ],
  [
    'records that a run completed',
    aCron({}, { ...ran, ...active('old') }),
    [aRun('old', complete)],
    [],
    ['SawCompletedJob'],
  ],
  ['records that an active run is missing', aCron({}, { ...ran, ...active('old') }), [], [], ['MissingJob']],
  [
    'records a Job that it did not start',
    aCron({}, ran),
    [aRun('manual', [], { metadata: {} })],
    [],
    ['UnexpectedJob'],
  ],
  [
    'ignores a Job that it did not start, even when its policy is Forbid',
    aCron({ concurrencyPolicy: 'Forbid' }),
    [aRun('manual', [], { metadata: {} })],
    [`create job tick-${due}`],
    ['UnexpectedJob'],
  ],
  [
    'deletes finished Jobs beyond the history limits',
    aCron({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }, ran),
    [aRun('a', complete), aRun('b', complete), aRun('c', failed)],
    ['delete job a', 'delete job c'],
    [],
  ],
  ['records an unknown time zone', aCron({ timeZone: 'Mars/Olympus' }), [], [], ['UnknownTimeZone']],
  ['records an invalid schedule', aCron({ schedule: 'x * * * *' }), [], [], ['UnparseableSchedule']],
  ['starts nothing on a day that does not exist', aCron({ schedule: '0 0 31 2 *' }), [], [], []],
  ['starts nothing while it is being deleted', leaving, [aRun('a', failed)], [], []],
]
for (const [why, object, jobs, changes, events] of plans)
  test(`a CronJob ${why}`, () => {
    const plan = planOf(cronJobController, object, ...jobs)
    deepEqual(shown(plan.changes), changes)
    deepEqual(
      (plan.events ?? []).map(({ reason }) => reason),
      events,
    )
  })

test('a run that is not in the status is recorded there', () => {
  const status = planOf(cronJobController, aCron(), aRun(`tick-${due}`)).status as CronJob['status']
  deepEqual(
    status.active?.map(({ name }) => name),
    [`tick-${due}`],
  )
  equal(status.lastScheduleTime, ran.lastScheduleTime)
})

test('a run has its scheduled time in its name and annotation; a failed creation does not set lastScheduleTime', () => {
  const plan = planOf(cronJobController, aCron({ timeZone: 'Asia/Kolkata', schedule: '0 5 * * *' }))
  const { metadata } = firstObject<Job>(plan)
  equal(metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'], '2030-01-01T05:00:00+05:30')
  equal((plan.status as CronJob['status']).lastScheduleTime, '2029-12-31T23:30:00Z')
  deepEqual(plan.statusOnFailure?.(new Error('x')), {})
  equal(plan.requeueAfterMs, 23.5 * 3_600_000 + 100)
})

test('the events of Jobs that are created and deleted', () => {
  const spec = { concurrencyPolicy: 'Replace', timeZone: 'America/New_York' }
  const { changes } = planOf(cronJobController, aCron(spec, active('old')), aRun('old'))
  const notes = changes.flatMap((change) => [
    change.event?.(change.object as never),
    change.failureEvent?.(new StatusError(500, 'InternalError', 'no')),
  ])
  deepEqual(
    notes.map((note) => `${note?.type} ${note?.reason}: ${note?.message}`),
    [
      'Normal SuccessfulDelete: Deleted job old',
      'Warning FailedDelete: Deleted job: no',
      `Normal SuccessfulCreate: Created job tick-${due}`,
      'Warning FailedCreate: Error creating job: no',
    ],
  )
})

test('only the last of many missed runs is started, and too many are reported', () => {
  const minutely = parseSchedule('* * * * *', undefined)
  const twice = parseSchedule('0,1 0 * * *', undefined)
  if (minutely === undefined || twice === undefined) throw new Error('no schedule')
  const since = (days: number) => ({
    ...aCron(),
    metadata: { ...aCron().metadata, creationTimestamp: rfc3339(nowMs - days * 86_400_000) },
  })
  deepEqual(missedRuns(since(0.01), minutely, nowMs), { lastMs: nowMs, count: 15, isTooMany: false })
  deepEqual(missedRuns(since(1), minutely, nowMs), { lastMs: nowMs, count: 1440, isTooMany: true })
  equal(missedRuns(since(30), twice, nowMs + 7_200_000).lastMs, nowMs + 60_000)
})

test('the last of millions of missed runs is found without searching for each of them', () => {
  const every = parseSchedule('* * * * *', 'Europe/Berlin')
  ok(every)
  const yearsMs = 10 * 365 * 86_400_000
  let searches = 0
  const schedule = {
    next: (afterMs: number) => (++searches, every.next(afterMs)),
    last: (scheduledMs: number, untilMs: number) => every.last(scheduledMs, untilMs),
  }
  const { lastMs, count, isTooMany } = withTimeLimit(() => missedRuns(aCron(), schedule, createdMs + yearsMs))
  deepEqual([lastMs, isTooMany], [Math.floor((createdMs + yearsMs) / 60_000) * 60_000, true])
  ok(count > 5_000_000 && searches <= 2, `${count} runs, ${searches} searches`)
})
