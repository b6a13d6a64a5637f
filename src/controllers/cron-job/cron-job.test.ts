// Tables for schedules, missed runs and the plans of CronJobs.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { cronJob, type CronJob } from '../../api/batch/v1/cron-job.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import { firstObject, made, nowMs, planOf, shown, template } from '../runtime/plan.harness.ts'
import { cronJobController } from './cron-job.ts'
import { missedRuns } from './missed-runs.ts'
import { parseSchedule } from '../../api/batch/schedule/schedule.ts'
import { zoneOffset } from '../../api/batch/schedule/time-zone.ts'

const schedules: [text: string, zone: string | undefined, after: string, next: (string | undefined)[]][] = [
  ['* * * * *', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z']],
  ['*/15 3-4 * * *', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T03:00:00Z', '2030-01-01T03:15:00Z']],
  ['0 0 29 feb *', undefined, '2030-01-01T00:00:00Z', ['2032-02-29T00:00:00Z']],
  ['0 0 31 2 *', undefined, '2030-01-01T00:00:00Z', [undefined]],
  ['0 12 * * mon-fri', undefined, '2030-01-04T13:00:00Z', ['2030-01-07T12:00:00Z']],
  [
    '0 0 13 * 5',
    undefined,
    '2030-01-01T00:00:00Z',
    ['2030-01-04T00:00:00Z', '2030-01-11T00:00:00Z', '2030-01-13T00:00:00Z'],
  ],
  ['@hourly', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T01:00:00Z']],
  ['@yearly', undefined, '2030-01-01T00:00:00Z', ['2031-01-01T00:00:00Z']],
  ['@every 90s', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T00:01:30Z', '2030-01-01T00:03:00Z']],
  ['0 9 * * *', 'Asia/Kolkata', '2030-01-01T00:00:00Z', ['2030-01-01T03:30:00Z']],
  ['0 0 * * *', 'America/New_York', '2030-01-01T00:00:00Z', ['2030-01-01T05:00:00Z']],
  // Clocks go forward on 2030-03-10 at 02:00: there is no 02:30 on that day.
  ['30 2 * * *', 'America/New_York', '2030-03-09T08:00:00Z', ['2030-03-11T06:30:00Z']],
  // Clocks go back on 2030-11-03 at 02:00: there are two 01:30 on that day.
  [
    '30 1 * * *',
    'America/New_York',
    '2030-11-02T12:00:00Z',
    ['2030-11-03T05:30:00Z', '2030-11-03T06:30:00Z', '2030-11-04T06:30:00Z'],
  ],
  // In Havana clocks go forward at midnight: the day begins at one.
  ['0 1 * * *', 'America/Havana', '2030-03-09T12:00:00Z', ['2030-03-10T05:00:00Z']],
]
for (const [text, zone, after, expected] of schedules)
  test(`${text} in ${zone ?? 'UTC'} after ${after}`, () => {
    const schedule = parseSchedule(text, zone)
    ok(schedule)
    let atMs = Date.parse(after)
    for (const wanted of expected) {
      const nextMs = schedule.next(atMs)
      equal(nextMs === undefined ? undefined : rfc3339(nextMs), wanted)
      atMs = nextMs ?? 0
    }
  })

// Each offset of a time zone takes microseconds, so a search that asks for the offset of each day blocks other work.
const searches: [text: string, why: string][] = [
  ['0 0 31 2 *', 'a day that does not exist'],
  ['0 0 29 2 *', 'a day in years'],
  ['59 23 31 12 *', 'the last minute of a year'],
  [`${'5,'.repeat(100_000)}5 0 1 1 *`, 'a long list'],
]
for (const [text, why] of searches)
  test(`the search of ${why} needs few offsets`, () => {
    let offsets = 0
    const zones: typeof zoneOffset = (zone) => {
      const offsetOf = zoneOffset(zone)
      return offsetOf && ((atMs) => (++offsets, offsetOf(atMs)))
    }
    const schedule = parseSchedule(text, 'America/New_York', zones)
    ok(schedule)
    schedule.next(nowMs)
    ok(offsets < 40, `${offsets} offsets`)
  })

test('the last time is the one that all times in order lead to', () => {
  const texts = [
    '* * * 1 *',
    '30 6-16/4 * * 1-5',
    '0,1 0 * * *',
    '*/7 * 29 2 *',
    '30 1 * * *',
    '@every 95s',
    '0 0 31 1 *',
  ]
  for (const text of texts)
    for (const zone of ['UTC', 'America/New_York']) {
      const schedule = parseSchedule(text, zone)
      const firstMs = schedule?.next(Date.UTC(2030, 0, 30, 23, 30))
      ok(schedule && firstMs)
      let lastMs = firstMs
      for (let count = 0; count < 400; count++) {
        const nextMs = schedule.next(lastMs)
        if (nextMs === undefined) break
        for (const untilMs of [nextMs - 1, nextMs])
          if (count % 100 < 3)
            equal(schedule.last(firstMs, untilMs), untilMs < nextMs ? lastMs : nextMs, `${text} ${zone}`)
        lastMs = nextMs
      }
    }
})

test('an invalid schedule or time zone is rejected', () => {
  equal(parseSchedule('* * * *', undefined), undefined)
  equal(parseSchedule('x * * * *', undefined), undefined)
  equal(parseSchedule('* * * * *', 'Mars/Olympus'), undefined)
})

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
