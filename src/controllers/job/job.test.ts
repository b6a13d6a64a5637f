// Tables for the plans of Jobs: parallelism, outcome, and that every pod is counted once.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../base/time/clock.ts'
import { withTimeLimit } from '../../base/work/time-limit.harness.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { aPod, firstObject, made, nowMs, planOf, type PodDetails, shown, template } from '../runtime/plan.harness.ts'
import { jobController } from './job.ts'

const aJob = (spec: object = {}, status: object = {}) =>
  made(job, 'work', {
    spec: { selector: { matchLabels: { app: 'web' } }, template: template('1', { restartPolicy: 'Never' }), ...spec },
    status: { startTime: rfc3339(nowMs - 5000), ...status },
  })
const finalizers = ['batch.kubernetes.io/job-tracking']
const work = (name: string, details: PodDetails & Record<string, unknown> = {}): Pod =>
  aPod(name, { finalizers, ...details })
const ended = (name: string, phase: string, agoSeconds = 100, details: Record<string, unknown> = {}) =>
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
    ...details,
  })
const at = (index: number, failures?: number) => ({
  annotations: {
    'batch.kubernetes.io/job-completion-index': String(index),
    ...(failures === undefined ? {} : { 'batch.kubernetes.io/job-index-failure-count': String(failures) }),
  },
})
const indexed = (spec: object = {}, status: object = {}) =>
  aJob({ completionMode: 'Indexed', completions: 3, parallelism: 2, ...spec }, status)
const recorded = (succeeded: string[], failed: string[]) => ({ uncountedTerminatedPods: { succeeded, failed } })
const rule = (body: object) => ({ podFailurePolicy: { rules: [body] } })
const exit42 = { onExitCodes: { operator: 'In', values: [42] } }

const plans: [why: string, object: Job, pods: Pod[], changes: string[]][] = [
  ['creates its first pod', aJob(), [], ['create pod work-']],
  ['changes nothing while its pod runs', aJob(), [work('a')], []],
  [
    'runs pods up to its parallelism',
    aJob({ completions: 5, parallelism: 3 }),
    [work('a')],
    ['create pod work-', 'create pod work-'],
  ],
  [
    'runs no more pods than the completions need',
    aJob({ completions: 2, parallelism: 3 }, { succeeded: 1 }),
    [],
    ['create pod work-'],
  ],
  [
    'deletes surplus pods',
    aJob({ completions: 5, parallelism: 1 }),
    [work('a'), work('b', { ready: false })],
    ['delete pod b'],
  ],
  ['creates pods by index', indexed(), [], ['create pod work-0-', 'create pod work-1-']],
  ['takes the next free index', indexed(), [work('a', at(1))], ['create pod work-0-']],
  ['skips completed indexes', indexed({}, { completedIndexes: '0-1' }), [], ['create pod work-2-']],
  ['deletes one of two pods with the same index', indexed(), [work('a', at(0)), work('b', at(0))], ['delete pod a']],
  ['waits for the backoff after a failure', aJob(), [ended('a', 'Failed', 5)], []],
  ['creates a pod after the backoff', aJob(), [ended('a', 'Failed', 11)], ['create pod work-']],
  ['waits longer after the second failure', aJob(), [ended('a', 'Failed', 40), ended('b', 'Failed', 15)], []],
  ['deletes its pods when it is suspended', aJob({ suspend: true }), [work('a')], ['delete pod a']],
  ['does nothing when another controller manages it', aJob({ managedBy: 'example.com/queue' }), [], []],
  ['releases a recorded pod', aJob({}, recorded(['uid-a'], [])), [ended('a', 'Succeeded')], ['patch pod a']],
  [
    'releases a pod that was recorded as failed while it was deleted and then exited with 0',
    aJob({ podReplacementPolicy: 'Failed' }, recorded([], ['uid-a'])),
    [ended('a', 'Succeeded', 100, { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['patch pod a', 'create pod work-'],
  ],
  [
    'releases such a pod of an index, too',
    indexed({ parallelism: 1 }, recorded([], ['uid-a'])),
    [ended('a', 'Succeeded', 100, { ...at(0), deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['patch pod a', 'create pod work-1-'],
  ],
  [
    'keeps a pod that is not recorded yet',
    aJob({ completions: 2, parallelism: 1 }),
    [ended('a', 'Succeeded'), work('b')],
    [],
  ],
  [
    'deletes running pods when it has failed',
    aJob({ backoffLimit: 0, parallelism: 2, completions: 2 }),
    [ended('a', 'Failed'), work('b')],
    ['delete pod b'],
  ],
  [
    'releases all pods when it is finished',
    aJob({}, { conditions: [{ type: 'Complete', status: 'True' }] }),
    [work('a')],
    ['patch pod a'],
  ],
  [
    'replaces a terminating pod',
    aJob(),
    [work('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    ['create pod work-'],
  ],
  [
    'waits for a terminating pod when only failed ones are replaced',
    aJob({ podReplacementPolicy: 'Failed' }),
    [work('a', { deletionTimestamp: '2030-01-01T00:00:00Z' })],
    [],
  ],
  [
    'does not retry an index beyond its backoff limit',
    indexed({ backoffLimitPerIndex: 1, parallelism: 1 }, recorded([], ['uid-a'])),
    [ended('a', 'Failed', 100, at(0, 1))],
    ['patch pod a', 'create pod work-1-'],
  ],
  [
    'keeps the last failure of an index until it is replaced',
    indexed({ backoffLimitPerIndex: 3, parallelism: 1 }, recorded([], ['uid-a'])),
    [ended('a', 'Failed', 5, at(0, 0))],
    ['create pod work-1-'],
  ],
]
for (const [why, object, pods, changes] of plans)
  test(`a Job ${why}`, () => deepEqual(shown(planOf(jobController, object, ...pods).changes), changes))

const outcomes: [why: string, object: Job, pods: Pod[], conditions: string[]][] = [
  ['enough pods have succeeded', aJob(), [ended('a', 'Succeeded')], ['SuccessCriteriaMet CompletionsReached']],
  [
    'all succeeded pods are counted',
    aJob({}, { succeeded: 1, uncountedTerminatedPods: {} }),
    [],
    ['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'],
  ],
  [
    'the backoff limit is exceeded',
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
  [
    'the active deadline has passed',
    aJob({ activeDeadlineSeconds: 5 }),
    [work('a')],
    ['FailureTarget DeadlineExceeded'],
  ],
  [
    'a pod failure rule has the action FailJob',
    aJob(rule({ action: 'FailJob', ...exit42 })),
    [ended('a', 'Failed')],
    ['FailureTarget PodFailurePolicy'],
  ],
  [
    'a failure is ignored by its exit code',
    aJob({ backoffLimit: 0, ...rule({ action: 'Ignore', ...exit42 }) }),
    [ended('a', 'Failed')],
    [],
  ],
  [
    'a failure is ignored by its condition',
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
    'the success policy is met',
    indexed({ successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] } }),
    [ended('a', 'Succeeded', 1, at(1))],
    ['SuccessCriteriaMet SuccessPolicy'],
  ],
  [
    'an index has failed',
    indexed({ backoffLimitPerIndex: 0 }, { completedIndexes: '0,2' }),
    [ended('a', 'Failed', 1, at(1, 0))],
    ['FailureTarget FailedIndexes'],
  ],
  [
    'too many indexes have failed',
    indexed({ backoffLimitPerIndex: 0, maxFailedIndexes: 0 }),
    [ended('a', 'Failed', 1, at(1, 0))],
    ['FailureTarget MaxFailedIndexesExceeded'],
  ],
  [
    'a pod failure rule has the action FailIndex',
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
  test(`conditions of a Job when ${why}`, () => {
    const status = planOf(jobController, object, ...pods).status as Job['status']
    deepEqual(
      (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`),
      conditions,
    )
  })

test('every pod is recorded, released and counted once, in this order', () => {
  const step = (object: Job, ...pods: Pod[]) => {
    const { changes, status } = planOf(jobController, object, ...pods)
    const { succeeded = 0, failed = 0, uncountedTerminatedPods: open } = status as Job['status']
    return { changes: shown(changes), counts: [succeeded, failed], open, next: { ...object, status } as Job }
  }
  const free = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } })
  const good = ended('good', 'Succeeded')
  const bad = ended('bad', 'Failed')
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

test('resuming resets the start time and records an event', () => {
  const suspended = aJob({ suspend: false }, { conditions: [{ type: 'Suspended', status: 'True' }] })
  const { status, events } = planOf(jobController, suspended)
  equal((status as Job['status']).startTime, rfc3339(nowMs))
  deepEqual(events, [{ type: 'Normal', reason: 'Resumed', message: 'Job resumed' }])
  const left = planOf(jobController, aJob({ activeDeadlineSeconds: 9 }), work('a')).requeueAfterMs
  equal(left, 4000)
})

test('the pod of an index has the index and its failure count', () => {
  const object = indexed({ backoffLimitPerIndex: 3, parallelism: 1 })
  const { metadata, spec } = firstObject<Pod>(planOf(jobController, object, ended('a', 'Failed', 100, at(0, 1))))
  equal(metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '2')
  equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], '0')
  deepEqual([spec.hostname, spec.containers[0]?.env?.[0]?.name], ['work-0', 'JOB_COMPLETION_INDEX'])
})

const most = 2_147_483_647
const burst = 500
const wholeRange = `0-${most - 1}`
const extremes: [
  why: string,
  object: Job,
  changes: [count: number, first: string | undefined],
  conditions: string[],
][] = [
  ['has the most pods', aJob({ completions: most, parallelism: most }), [burst, 'create pod work-'], []],
  ['has the most indexes', indexed({ completions: most, parallelism: 100_000 }), [burst, 'create pod work-0-'], []],
  [
    'has a few indexes left of the most',
    indexed({ completions: most, parallelism: 100_000 }, { completedIndexes: `0-9,12-${most - 1}` }),
    [2, 'create pod work-10-'],
    [],
  ],
  [
    'has failed indexes and completed ones, the most together',
    indexed(
      { completions: most, parallelism: 10_000, backoffLimitPerIndex: most, maxFailedIndexes: 10_000 },
      { completedIndexes: `100-${most - 1}`, failedIndexes: '0-98' },
    ),
    [1, 'create pod work-99-'],
    [],
  ],
  [
    'has rules about the most indexes, which are not met',
    indexed({
      completions: most,
      successPolicy: { rules: Array.from({ length: 20 }, () => ({ succeededIndexes: wholeRange })) },
    }),
    [2, 'create pod work-0-'],
    [],
  ],
  [
    'has met a rule about the most indexes',
    indexed(
      { completions: most, successPolicy: { rules: [{ succeededIndexes: wholeRange }] } },
      { completedIndexes: wholeRange },
    ),
    [0, undefined],
    ['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'],
  ],
]
for (const [why, object, [count, first], conditions] of extremes)
  test(`one plan of a Job that ${why}`, () => {
    const { changes, status } = withTimeLimit(() => planOf(jobController, object))
    deepEqual([changes.length, shown(changes)[0]], [count, first])
    deepEqual(
      ((status as Job['status']).conditions ?? []).map(({ type, reason }) => `${type} ${reason}`),
      conditions,
    )
  })

test('the pods of one plan of an Indexed Job share their containers', () => {
  const object = indexed({ completions: most, parallelism: 100_000 })
  const specs = planOf(jobController, object).changes.map((change) => (change.object as Pod).spec)
  equal(new Set(specs.map(({ containers }) => containers)).size, 1)
  equal(new Set(specs.map(({ hostname }) => hostname)).size, burst)
})
