// What the metrics count of a reconcile. The actions were observed at upstream's controller.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { job } from '../../api/batch/v1/job.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { JobMetrics } from '../metrics/job-metrics.ts'
import type { AppliedPlan, Change } from '../runtime/controller.ts'
import { aPod, made, template } from '../runtime/plan.harness.ts'
import { syncOf } from './job-sync.ts'

const aJob = (spec: object = {}, status: object = {}) =>
  made(job, 'j', { spec: { template: template('1'), ...spec }, status })
const create: Change = { kind: 'create', of: pod, object: {} }
const remove: Change = { kind: 'delete', of: pod, object: aPod('p') }
const condition = (type: string, reason = '') => ({ conditions: [{ type, status: 'True', reason }] })
const nowMs = 0

type Case = Partial<AppliedPlan<ReturnType<typeof aJob>>> & { readonly changes?: Change[]; readonly status?: object }
const applied = ({ changes = [], status, ...rest }: Case) => ({
  object: aJob(),
  plan: { changes, ...(status === undefined ? {} : { status }) },
  creates: { succeeded: 0, failed: 0 },
  hasStatus: true,
  nowMs,
  seconds: 1,
  ...rest,
})

const actions: [why: string, action: string, Case][] = [
  ['creates pods', 'pods_created', { changes: [create] }],
  ['deletes pods', 'pods_deleted', { changes: [remove] }],
  ['is suspended', 'pods_deleted', { object: aJob({ suspend: true }) }],
  ['changes nothing', 'tracking', {}],
  ['is about to fail', 'reconciling', { changes: [remove], status: condition('FailureTarget') }],
  ['has finished', 'reconciling', { object: aJob({}, condition('Complete')) }],
]
for (const [why, action, input] of actions)
  test(`the action of a Job that ${why} is ${action}`, () => equal(syncOf(applied(input)).action, action))

test('pods are counted once their number is written', () => {
  const object = aJob({}, { succeeded: 1 })
  const counts = (hasStatus: boolean) => {
    const { succeeded, failed } = syncOf(applied({ object, status: { succeeded: 3, failed: 1 }, hasStatus }))
    return [succeeded, failed]
  }
  deepEqual(counts(true), [2, 1])
  deepEqual(counts(false), [0, 0])
})

const reasons: [why: string, reason: string, spec: object, status: object][] = [
  ['first', 'new', {}, { ready: 0 }],
  ['instead of failed ones', 'recreate_terminating_or_failed', {}, { failed: 1 }],
  ['instead of terminating ones', 'recreate_terminating_or_failed', {}, { terminating: 1 }],
  ['when those have failed', 'recreate_failed', { podReplacementPolicy: 'Failed' }, { failed: 1, terminating: 1 }],
  ['while others terminate', 'recreate_terminating_or_failed', { podReplacementPolicy: 'Failed' }, { terminating: 1 }],
]
for (const [why, reason, spec, status] of reasons)
  test(`pods that a Job creates ${why} are counted as ${reason}`, () => {
    const metrics = new Metrics()
    const creates = { succeeded: 3, failed: 1 }
    new JobMetrics(metrics).synced(syncOf(applied({ object: aJob(spec), status, creates })))
    for (const [result, count] of Object.entries(creates))
      ok(metrics.text().includes(`creation_total{reason="${reason}",status="${result}"} ${count}\n`))
  })

const ends: [string, object, object, unknown][] = [
  ['completes', {}, condition('Complete', 'CompletionsReached'), { isSucceeded: true, reason: 'CompletionsReached' }],
  ['fails', {}, condition('Failed', 'BackoffLimitExceeded'), { isSucceeded: false, reason: 'BackoffLimitExceeded' }],
  ['had failed before', condition('Failed'), condition('Failed'), undefined],
  ['runs', {}, { active: 1 }, undefined],
]
for (const [why, before, status, finished] of ends)
  test(`a Job that ${why} is counted as ${JSON.stringify(finished)}`, () =>
    deepEqual(syncOf(applied({ object: aJob({}, before), status })).finished, finished))

test('the metrics have upstream’s series', () => {
  const metrics = new Metrics()
  const object = aJob({ completionMode: 'Indexed', completions: 1 })
  const status = { succeeded: 1, ...condition('Complete', 'CompletionsReached') }
  const own = new JobMetrics(metrics)
  own.synced(syncOf(applied({ object, status })))
  own.synced(syncOf(applied({ object, failure: new Error('conflict'), hasStatus: false })))
  const lines = metrics
    .text()
    .split('\n')
    .filter((line) => /^job_controller_\w+\{/.test(line) && !line.includes('_bucket'))
  deepEqual(lines, [
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 1',
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="failed"} 0',
    'job_controller_job_sync_duration_seconds_sum{action="reconciling",completion_mode="Indexed",result="success"} 1',
    'job_controller_job_sync_duration_seconds_count{action="reconciling",completion_mode="Indexed",result="success"} 1',
    'job_controller_job_sync_duration_seconds_sum{action="tracking",completion_mode="Indexed",result="error"} 1',
    'job_controller_job_sync_duration_seconds_count{action="tracking",completion_mode="Indexed",result="error"} 1',
    'job_controller_job_syncs_total{action="reconciling",completion_mode="Indexed",result="success"} 1',
    'job_controller_job_syncs_total{action="tracking",completion_mode="Indexed",result="error"} 1',
    'job_controller_jobs_finished_total{completion_mode="Indexed",reason="CompletionsReached",result="succeeded"} 1',
  ])
})
