// Tables for the plans of Jobs: how many pods, how it ends, and that every pod is counted once.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { aPod, firstObject, made, nowMs, planOf, type PodLook, shown, template } from '../runtime/plan.harness.ts'
import { indexSetText, parseIndexSet } from './completion-indexes.ts'
import { jobController } from './job.ts'

const aJob = (spec: object = {}, status: object = {}) =>
  made(job, 'work', {
    spec: { selector: { matchLabels: { app: 'web' } }, template: template('1', { restartPolicy: 'Never' }), ...spec },
    status: { startTime: rfc3339(nowMs - 5000), ...status },
  })
const finalizers = ['batch.kubernetes.io/job-tracking']
const work = (name: string, look: PodLook & Record<string, unknown> = {}): Pod => aPod(name, { finalizers, ...look })
const ended = (name: string, phase: string, agoSeconds = 100, look: Record<string, unknown> = {}) =>
  work(name, {
    phase,
    ready: false,
    status: {
      phase,
      containerStatuses: [
        {
          name: 'c',
          image: 'i',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: {
            terminated: { exitCode: phase === 'Failed' ? 42 : 0, finishedAt: rfc3339(nowMs - agoSeconds * 1000) },
          },
        },
      ],
    },
    ...look,
  })
const at = (index: number, failures?: number) => ({
  annotations: {
    'batch.kubernetes.io/job-completion-index': String(index),
    ...(failures === undefined ? {} : { 'batch.kubernetes.io/job-index-failure-count': String(failures) }),
  },
})
const indexed = (spec: object = {}, status: object = {}) =>
  aJob({ completionMode: 'Indexed', completions: 3, parallelism: 2, ...spec }, status)
const noted = (succeeded: string[], failed: string[]) => ({ uncountedTerminatedPods: { succeeded, failed } })
const rule = (body: object) => ({ podFailurePolicy: { rules: [body] } })
const exit42 = { onExitCodes: { operator: 'In', values: [42] } }

const plans: [why: string, object: Job, pods: Pod[], changes: string[]][] = [
  ['begins', aJob(), [], ['create pod work-']],
  ['is content while it runs', aJob(), [work('a')], []],
  [
    'runs as many as it may',
    aJob({ completions: 5, parallelism: 3 }),
    [work('a')],
    ['create pod work-', 'create pod work-'],
  ],
  ['runs no more than it needs', aJob({ completions: 2, parallelism: 3 }, { succeeded: 1 }), [], ['create pod work-']],
  [
    'ends the surplus',
    aJob({ completions: 5, parallelism: 1 }),
    [work('a'), work('b', { ready: false })],
    ['delete pod b'],
  ],
  ['runs by index', indexed(), [], ['create pod work-0-', 'create pod work-1-']],
  ['takes the next free index', indexed(), [work('a', at(1))], ['create pod work-0-']],
  ['skips indexes that are done', indexed({}, { completedIndexes: '0-1' }), [], ['create pod work-2-']],
  ['ends one of two with the same index', indexed(), [work('a', at(0)), work('b', at(0))], ['delete pod a']],
  ['waits after a failure', aJob(), [ended('a', 'Failed', 5)], []],
  ['tries again after that', aJob(), [ended('a', 'Failed', 11)], ['create pod work-']],
  ['waits longer after the second', aJob(), [ended('a', 'Failed', 40), ended('b', 'Failed', 15)], []],
  ['ends its pods when it is suspended', aJob({ suspend: true }), [work('a')], ['delete pod a']],
  ['leaves alone what others manage', aJob({ managedBy: 'example.com/queue' }), [], []],
  ['lets a counted pod go', aJob({}, noted(['uid-a'], [])), [ended('a', 'Succeeded')], ['patch pod a']],
  [
    'lets a pod go that was noted as failed while it was deleted and then exited with 0',
    aJob({ podReplacementPolicy: 'Failed' }, noted([], ['uid-a'])),
    [ended('a', 'Succeeded', 100, { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['patch pod a', 'create pod work-'],
  ],
  [
    'lets such a pod of an index go, too',
    indexed({ parallelism: 1 }, noted([], ['uid-a'])),
    [ended('a', 'Succeeded', 100, { ...at(0), deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['patch pod a', 'create pod work-1-'],
  ],
  [
    'keeps a pod that is not noted yet',
    aJob({ completions: 2, parallelism: 1 }),
    [ended('a', 'Succeeded'), work('b')],
    [],
  ],
  [
    'ends what still runs when it has failed',
    aJob({ backoffLimit: 0, parallelism: 2, completions: 2 }),
    [ended('a', 'Failed'), work('b')],
    ['delete pod b'],
  ],
  [
    'lets all pods go once it is over',
    aJob({}, { conditions: [{ type: 'Complete', status: 'True' }] }),
    [work('a')],
    ['patch pod a'],
  ],
  [
    'replaces a pod that is ending',
    aJob(),
    [work('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['create pod work-'],
  ],
  [
    'waits for a pod that is ending when only failed ones are replaced',
    aJob({ podReplacementPolicy: 'Failed' }),
    [work('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    [],
  ],
  [
    'gives up an index that failed too often',
    indexed({ backoffLimitPerIndex: 1, parallelism: 1 }, noted([], ['uid-a'])),
    [ended('a', 'Failed', 100, at(0, 1))],
    ['patch pod a', 'create pod work-1-'],
  ],
  [
    'keeps the last failure of an index until it is replaced',
    indexed({ backoffLimitPerIndex: 3, parallelism: 1 }, noted([], ['uid-a'])),
    [ended('a', 'Failed', 5, at(0, 0))],
    ['create pod work-1-'],
  ],
]
for (const [why, object, pods, changes] of plans)
  test(`a Job ${why}`, () => deepEqual(shown(planOf(jobController, object, ...pods).changes), changes))

const outcomes: [why: string, object: Job, pods: Pod[], conditions: string[]][] = [
  ['enough has been done', aJob(), [ended('a', 'Succeeded')], ['SuccessCriteriaMet CompletionsReached']],
  [
    'all is counted',
    aJob({}, { succeeded: 1, uncountedTerminatedPods: {} }),
    [],
    ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
  ],
  [
    'it failed too often',
    aJob({ backoffLimit: 1 }, { failed: 1 }),
    [ended('a', 'Failed')],
    ['FailureTarget BackoffLimitExceeded'],
  ],
  [
    'all failures are counted',
    aJob({ backoffLimit: 1 }, { failed: 2 }),
    [],
    ['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
  ],
  ['its time is over', aJob({ activeDeadlineSeconds: 5 }), [work('a')], ['FailureTarget DeadlineExceeded']],
  [
    'a rule says so',
    aJob(rule({ action: 'FailJob', ...exit42 })),
    [ended('a', 'Failed')],
    ['FailureTarget PodFailurePolicy'],
  ],
  [
    'a rule says to look away',
    aJob({ backoffLimit: 0, ...rule({ action: 'Ignore', ...exit42 }) }),
    [ended('a', 'Failed')],
    [],
  ],
  [
    'a condition is looked away from',
    aJob({
      backoffLimit: 0,
      ...rule({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }),
    }),
    [
      ended('a', 'Failed', 100, {
        status: { phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      }),
    ],
    [],
  ],
  [
    'enough indexes are done',
    indexed({ successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] } }),
    [ended('a', 'Succeeded', 1, at(1))],
    ['SuccessCriteriaMet SuccessPolicy'],
  ],
  [
    'indexes were lost',
    indexed({ backoffLimitPerIndex: 0 }, { completedIndexes: '0,2' }),
    [ended('a', 'Failed', 1, at(1, 0))],
    ['FailureTarget FailedIndexes'],
  ],
  [
    'too many indexes were lost',
    indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 0 }),
    [ended('a', 'Failed', 1, at(1, 0))],
    ['FailureTarget MaxFailedIndexesExceeded'],
  ],
  [
    'a rule gives up the index',
    indexed({ completions: 1, parallelism: 1, backoffLimitPerIndex: 9, ...rule({ action: 'FailIndex', ...exit42 }) }),
    [ended('a', 'Failed', 1, at(0, 0))],
    ['FailureTarget FailedIndexes'],
  ],
  ['it is suspended', aJob({ suspend: true }), [], ['Suspended JobSuspended']],
  [
    'a work queue is empty',
    aJob({ parallelism: 2 }),
    [ended('a', 'Succeeded')],
    ['SuccessCriteriaMet CompletionsReached'],
  ],
]
for (const [why, object, pods, conditions] of outcomes)
  test(`a Job says when ${why}`, () => {
    const status = planOf(jobController, object, ...pods).status as Job['status']
    deepEqual(
      (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`),
      conditions,
    )
  })

test('every pod is noted, let go, and counted once, in this order', () => {
  const step = (object: Job, ...pods: Pod[]) => {
    const { changes, status } = planOf(jobController, object, ...pods)
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: open } = status as Job['status']
    return { changes: shown(changes), counts: [succeeded, failed], open, next: { ...object, status } as Job }
  }
  const free = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } })
  const [good, bad] = [ended('good', 'Succeeded'), ended('bad', 'Failed')]
  const first = step(aJob({ completions: 9, parallelism: 0 }), good, bad)
  deepEqual([first.changes, first.counts, first.open], [[], [0, 0], { succeeded: ['uid-good'], failed: ['uid-bad'] }])
  const second = step(first.next, good, bad)
  deepEqual(
    [second.changes, second.counts],
    [
      ['patch pod good', 'patch pod bad'],
      [0, 0],
    ],
  )
  const third = step(second.next, free(good), free(bad))
  deepEqual([third.changes, third.counts, third.open], [[], [1, 1], {}])
  const fourth = step(third.next, free(good), free(bad))
  deepEqual([fourth.changes, fourth.counts], [[], [1, 1]])
})

test('resuming starts the clock anew and tells it', () => {
  const suspended = aJob({ suspend: false }, { conditions: [{ type: 'Suspended', status: 'True' }] })
  const { status, events } = planOf(jobController, suspended)
  equal((status as Job['status']).startTime, rfc3339(nowMs))
  deepEqual(events, [{ type: 'Normal', reason: 'Resumed', message: 'Job resumed' }])
  const left = planOf(jobController, aJob({ activeDeadlineSeconds: 9 }), work('a')).requeueAfterMs
  equal(left, 4000)
})

test('the pod of an index knows it, and how often the index failed', () => {
  const object = indexed({ backoffLimitPerIndex: 3, parallelism: 1 })
  const { metadata, spec } = firstObject<Pod>(planOf(jobController, object, ended('a', 'Failed', 100, at(0, 1))))
  equal(metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '2')
  equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], '0')
  deepEqual([spec.hostname, spec.containers[0]?.env?.[0]?.name], ['work-0', 'JOB_COMPLETION_INDEX'])
})

test('sets of indexes as text', () => {
  for (const text of ['', '3', '0,1', '0-2,5', '0-2,5,6', '1,3,5-7']) equal(indexSetText(parseIndexSet(text, 9)), text)
  equal(indexSetText(parseIndexSet('0-9', 3)), '0-2')
})
