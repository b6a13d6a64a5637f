// What follows when the victim of a preemption is patched and deleted: the preemptor waits for its removal, or is retried.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { podDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { ApiCall } from '../../client/transport/transport.ts'
import { filterNodes } from '../cycle/filtering.ts'
import { Nominator } from '../framework/nominator.ts'
import { profileOf } from '../framework/profile.ts'
import { schedulerMetrics } from '../framework/scheduler-metrics.ts'
import { schedulerPlugins } from '../plugins.ts'
import { aNode, aPod, cycleOf, snapshotOf, standing } from '../scheduler.harness.ts'
import { defaultPreemption } from './default-preemption.ts'

const victim = aPod('victim', {}, { cpu: '4' })
const successor = { ...victim, metadata: { ...victim.metadata, uid: 'successor' } }
const conflict = () => Promise.reject(new StatusError(409, 'Conflict', 'conflict'))
const notFound = () => Promise.reject(new StatusError(404, 'NotFound', 'not found'))
const broken = () => Promise.reject(new StatusError(500, 'InternalError', 'broken'))
const done = () => Promise.resolve(victim)

type Answers = Partial<Record<ApiCall['verb'], () => Promise<unknown>>>

/** The calls for the victim, and what the scheduler is asked to do with the preemptor. */
async function preempt(answers: Answers): Promise<{ calls: string[]; asked: string[] }> {
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const calls: string[] = []
  const asked: string[] = []
  const client = new Client({
    ...standing([]),
    send({ verb, body }) {
      const uid = (body as { metadata?: { uid?: string } } | undefined)?.metadata?.uid
      calls.push(uid === undefined ? verb : `${verb} ${uid}`)
      return (answers[verb] ?? done)()
    },
  })
  const common = { client, clock, random: seededRandom(1), log: silentLog }
  const informers = new Informers(client, common, tasks)
  informers.of(podDisruptionBudget)
  await clock.settle()
  const snapshot = snapshotOf([aNode('n')], [[victim, 'n']])
  const nominator = new Nominator()
  const configured = defaultPreemption.configure?.(undefined, {
    ...common,
    schedulerName: 's',
    snapshot,
    nominator,
    extenders: [],
    informers,
    metrics: schedulerMetrics(new Metrics()),
    recordEvent: (_, { reason }) => void asked.push(reason),
    retryPreEnqueue: () => void asked.push('retryPreEnqueue'),
    retryAfterBackoff: () => void asked.push('retryAfterBackoff'),
    startTask: (name, task) => tasks.start(name, task),
  })
  const preemptor = aPod('preemptor', { priority: 100 }, { cpu: '4' })
  const { run } = filterNodes(cycleOf(preemptor, snapshot), profileOf('s', schedulerPlugins), nominator, 0)
  deepEqual(configured?.postFilter?.(run, { signal: tasks.signal, cause: noCause }), {
    kind: 'nominated',
    nodeName: 'n',
  })
  equal(configured?.preEnqueue?.(preemptor), 'waiting for the preemption for this pod to be finished')
  await clock.settle()
  equal(configured.preEnqueue(preemptor), undefined)
  return { calls, asked }
}

const rows: readonly (readonly [why: string, answers: Answers, calls: string[], asked: string[]])[] = [
  ['is deleted', {}, ['patch victim', 'delete'], ['Preempted', 'retryPreEnqueue']],
  ['is gone', { patch: notFound }, ['patch victim'], ['retryPreEnqueue']],
  ['is gone after its patch', { delete: notFound }, ['patch victim', 'delete'], ['retryPreEnqueue']],
  [
    'is gone, and another pod has its name',
    { patch: conflict, get: () => Promise.resolve(successor) },
    ['patch victim', 'get'],
    ['retryPreEnqueue'],
  ],
  [
    'is gone after its patch, and another pod has its name',
    { delete: conflict, get: () => Promise.resolve(successor) },
    ['patch victim', 'delete', 'get'],
    ['retryPreEnqueue'],
  ],
  [
    'is gone after a conflict',
    { delete: conflict, get: notFound },
    ['patch victim', 'delete', 'get'],
    ['retryPreEnqueue'],
  ],
  ['has a conflict', { patch: conflict, get: done }, ['patch victim', 'get'], ['retryAfterBackoff']],
  ['cannot be deleted', { delete: broken }, ['patch victim', 'delete'], ['retryAfterBackoff']],
]
for (const [why, answers, calls, asked] of rows)
  test(`a victim that ${why}`, async () => deepEqual(await preempt(answers), { calls, asked }))
