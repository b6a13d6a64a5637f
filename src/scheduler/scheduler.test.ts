// The scheduling cycle, the snapshot, and the scheduler in a cluster.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { event } from '../api/core/v1/event.ts'
import type { Node } from '../api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { service } from '../api/core/v1/service/service.ts'
import { Informers } from '../client/informer/informers.ts'
import { startCluster, type TestCluster } from '../cluster/testing/start-cluster.ts'
import { defaultSchedulerName } from './framework/scheduler-configuration.ts'
import { DecisionRecord } from './cycle/decision-record.ts'
import { filterNodes, nodesToFind } from './cycle/filtering.ts'
import { rejection, type SchedulerPlugin } from './framework/framework.ts'
import { Nominator } from './framework/nominator.ts'
import { schedulerMetrics } from './framework/scheduler-metrics.ts'
import { schedulerPlugins } from './plugins.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { profileOf } from './framework/profile.ts'
import { aNode, aPod, cycleOf, snapshotOf } from './scheduler.harness.ts'
import { Scheduler } from './scheduler.ts'
import { bestOf, scoreNodes } from './cycle/scoring.ts'
import { Snapshot } from './snapshot/snapshot.ts'
import { summary } from './framework/verdicts.ts'

const ctx = context(new AbortController().signal)

/** Runs one cycle with all plugins: the chosen node, or the message, and the rejecting plugin of each node. */
function decide(target: Pod, nodes: Node[], plugins: readonly SchedulerPlugin[] = schedulerPlugins) {
  const snapshot = snapshotOf(nodes)
  const cycle = cycleOf(target, snapshot)
  const profile = profileOf(defaultSchedulerName, plugins)
  const filtered = filterNodes(cycle, profile, new Nominator(), 0)
  if (filtered.kind === 'rejected')
    return { chosen: undefined, message: filtered.by.rejection.reasons.join(), rejected: [] }
  const { verdicts } = filtered.run
  const rejected = [...snapshot.order].flatMap((slot) => {
    const found = verdicts.of(slot)
    return typeof found === 'object' ? [`${snapshot.nameAt(slot)} ${found.plugin}`] : []
  })
  if (filtered.fitting.length === 0)
    return { chosen: undefined, message: summary(snapshot.size, verdicts.reasonCounts()), rejected }
  const scores = scoreNodes(cycle, profile, filtered.fitting)
  return { chosen: snapshot.nameAt(bestOf(scores, seededRandom(1))), message: '', rejected }
}

test('the cycle chooses the best node, records every verdict, and summarises the reasons when no node fits', () => {
  const nodes = [
    aNode('small', {}, { cpu: '1', pods: '10' }),
    aNode('cordoned', { unschedulable: true }),
    aNode('tainted', { taints: [{ key: 'k', effect: 'NoSchedule' }] }),
    aNode('good'),
  ]
  const target = aPod('p', {}, { cpu: '2' })
  const { chosen, rejected } = decide(target, nodes)
  equal(chosen, 'good')
  deepEqual(rejected, ['small NodeResourcesFit', 'cordoned NodeUnschedulable', 'tainted TaintToleration'])
  equal(
    decide(target, nodes.slice(0, 3)).message,
    '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.',
  )
})

test('a preFilter rejection ends the cycle', () => {
  const picky: SchedulerPlugin = { name: 'Picky', preFilter: () => rejection('not today', false) }
  equal(decide(aPod('p'), [aNode('a'), aNode('b')], [picky]).message, 'not today')
})

test('only a part of the nodes of a large cluster is evaluated, zone by zone, starting where the last cycle ended', () => {
  for (const [percentage, nodes, wanted] of [
    [0, 99, 99],
    [0, 100, 100],
    [0, 1000, 420],
    [0, 5000, 500],
    [0, 10_000, 500],
    [10, 5000, 500],
    [1, 5000, 100],
    [100, 5000, 5000],
  ] as const)
    equal(nodesToFind(percentage, nodes), wanted)
  const zones = ['a', 'a', 'a', 'b', 'c', 'c']
  const snapshot = snapshotOf(
    zones.map((zone, index) => aNode(`n${index}`, {}, undefined, { 'topology.kubernetes.io/zone': zone })),
  )
  deepEqual(
    [...snapshot.order].map((slot) => zones[Number(snapshot.nameAt(slot).slice(1))]),
    ['a', 'b', 'c', 'a', 'c', 'a'],
  )
  const many = snapshotOf(Array.from({ length: 200 }, (_, index) => aNode(`n${index}`)))
  const profile = profileOf(defaultSchedulerName, schedulerPlugins, 10)
  const first = filterNodes(cycleOf(aPod('p'), many), profile, new Nominator(), 0)
  const second = filterNodes(cycleOf(aPod('p'), many), profile, new Nominator(), 100)
  equal(first.kind === 'filtered' && first.fitting.length, 100)
  equal(
    first.kind === 'filtered' && second.kind === 'filtered' && new Set([...first.fitting, ...second.fitting]).size,
    200,
  )
})

test('the snapshot counts a pod once, even when its node is added later or the pod moves', () => {
  const snapshot = new Snapshot()
  const target = aPod('p', {}, { cpu: '1' })
  const usage = (name: string) => {
    const slot = snapshot.slotOf(name) ?? -1
    return [snapshot.resources.of('cpu').requested[slot], snapshot.resources.podCount[slot]]
  }
  snapshot.place(target, 'n')
  snapshot.setNode(aNode('n'))
  snapshot.place(target, 'n')
  deepEqual(usage('n'), [1000, 1])
  snapshot.setNode(aNode('m'))
  snapshot.place(target, 'm')
  deepEqual(
    [usage('n'), usage('m')],
    [
      [0, 0],
      [1000, 1],
    ],
  )
  snapshot.remove(target)
  snapshot.remove(target)
  deepEqual(usage('m'), [0, 0])
  snapshot.removeNode('m')
  equal(snapshot.size, 1)
  for (let index = 0; index < 200; index++) snapshot.setNode(aNode(`late-${index}`))
  snapshot.place(target, 'late-150')
  deepEqual([snapshot.size, usage('late-150')], [201, [1000, 1]])
})

test('DefaultBinder binds through the binding subresource', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const target = await cluster.client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'default', ctx)
  equal(await defaultBinder.bind?.(cycleOf(target, new Snapshot()), 'somewhere', cluster.client, ctx), true)
  equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, 'somewhere')
})

test('an unschedulable pod gets a condition and is bound as soon as a node fits', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const pods = cluster.client.of(pod)
  const create = (name: string, cpu: string) =>
    pods.create(
      { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] } },
      'default',
      ctx,
    )
  await cluster.clock.advance('1s')
  await create('first', '6')
  await cluster.clock.advance('1s')
  await create('second', '6')
  await cluster.clock.advance('2s')
  const pending = await pods.get('second', 'default', ctx)
  const condition = pending.status.conditions?.find(({ type }) => type === 'PodScheduled')
  deepEqual(
    [pending.spec.nodeName, condition?.status, condition?.reason, condition?.message],
    [
      undefined,
      'False',
      'Unschedulable',
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    ],
  )
  const events = (await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=second' }, ctx)).items
  match(
    events.map(({ reason, message }) => `${reason} ${message}`).join(),
    /FailedScheduling 0\/1 nodes are available: 1 Insufficient cpu\./,
  )
  await pods.delete('first', 'default', {}, ctx)
  await cluster.clock.advance('40s')
  const bound = await pods.get('second', 'default', ctx)
  deepEqual([bound.spec.nodeName, bound.status.phase], ['node-0', 'Running'])
})

test('an object that the rejecting plugin does not watch requeues no pod', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  const claimed = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }] }
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  await client.of(persistentVolumeClaim).create({ metadata: { name: 'c' }, spec: claim }, 'default', ctx)
  const spec = { containers: [{ name: 'c', image: 'i' }], ...claimed }
  await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await clock.advance('5s')
  const looks = () => cluster.flow(pod, 'p').match(/unbound immediate/g)?.length ?? 0
  const before = looks()
  const ports = [{ port: 80 }]
  await client.of(service).create({ metadata: { name: 's' }, spec: { selector: { a: 'b' }, ports } }, 'default', ctx)
  await clock.advance('20s')
  equal(looks(), before)
  const labels = { seen: 'again' }
  await client.of(persistentVolumeClaim).patch('c', 'default', { metadata: { labels } }, 'merge', ctx)
  await clock.advance('20s')
  equal(looks(), before + 1)
})

test('a pod for another scheduler is ignored', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  await cluster.client
    .of(pod)
    .create(
      { metadata: { name: 'p' }, spec: { schedulerName: 'other', containers: [{ name: 'c', image: 'i' }] } },
      'default',
      ctx,
    )
  await cluster.clock.advance('10s')
  equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, undefined)
})

/** A separate scheduler in a cluster whose own scheduler is stopped. */
async function ownScheduler(cluster: TestCluster, plugins: readonly SchedulerPlugin[]) {
  await cluster.kill('scheduler')
  const tasks = new TaskGroup()
  const { client, clock } = cluster
  const decisions = new DecisionRecord()
  const deps = {
    client,
    clock,
    random: seededRandom(1),
    flow: new FlowRecorder(clock),
    log: silentLog,
    plugins,
    decisions,
    metrics: schedulerMetrics(new Metrics()),
  }
  const informers = new Informers(client, deps, tasks)
  new Scheduler({ ...deps, informers, configuration: {}, extenders: [] }, tasks).start()
  return { decisions, tasks }
}

test('the scheduler can be stopped before its informers are synced', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await cluster.kill('apiserver')
  const { tasks } = await ownScheduler(cluster, schedulerPlugins)
  await cluster.clock.advance('1s')
  tasks.stop()
  await tasks.join()
  deepEqual(tasks.running, [])
})

test('the scheduler retains the decision about a pod until the pod is deleted', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const { decisions, tasks } = await ownScheduler(cluster, schedulerPlugins)
  await using _tasks = tasks
  const target = await client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'default', ctx)
  equal(target.spec.schedulerName, defaultSchedulerName)
  await clock.advance('1s')
  const explained = decisions.explain('default/p')
  equal(explained?.nodeName, (await client.of(pod).get('p', 'default', ctx)).spec.nodeName)
  deepEqual(
    explained?.nodes.map(({ node, verdict, scores }) => [node, verdict, scores?.['NodeResourcesFit'] !== undefined]),
    [
      ['node-0', 'fits', true],
      ['node-1', 'fits', true],
    ],
  )
  await client.of(pod).delete('p', 'default', { gracePeriodSeconds: 0 }, ctx)
  await clock.advance('5s')
  equal(decisions.explain('default/p'), undefined)
})

test('a postFilter plugin may nominate a node when no node fits; the pod status names it', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  const asked: string[] = []
  const preempting: SchedulerPlugin = {
    name: 'Preempting',
    postFilter({ cycle, verdicts }) {
      asked.push(`${cycle.pod.metadata.name} ${[...verdicts.rejectedBy()].join()}`)
      return { kind: 'nominated', nodeName: 'node-0' }
    },
  }
  const { tasks } = await ownScheduler(cluster, [preempting, ...schedulerPlugins])
  await using _tasks = tasks
  await client.of(pod).create(
    {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '99' } } }] },
    },
    'default',
    ctx,
  )
  await clock.advance('1s')
  deepEqual(asked, ['p NodeResourcesFit'])
  equal((await client.of(pod).get('p', 'default', ctx)).status.nominatedNodeName, 'node-0')
})

test('a pod that is deleted while a postFilter plugin waits is not nominated', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  const isDeleted = Promise.withResolvers<void>()
  const preempting: SchedulerPlugin = {
    name: 'Preempting',
    async postFilter() {
      await isDeleted.promise
      return { kind: 'nominated', nodeName: 'node-0' }
    },
  }
  const { tasks } = await ownScheduler(cluster, [preempting, ...schedulerPlugins])
  await using _tasks = tasks
  const create = (name: string, cpu: string) => {
    const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] }
    return client.of(pod).create({ metadata: { name }, spec }, 'default', ctx)
  }
  await create('large', '99')
  await clock.advance('1s')
  await client.of(pod).delete('large', 'default', {}, ctx)
  await clock.advance('1s')
  isDeleted.resolve()
  await create('small', '1')
  await clock.advance('1s')
  equal((await client.of(pod).get('small', 'default', ctx)).spec.nodeName, 'node-0')
})

test('a scheduler killed between Reserve and Bind leaves nothing behind', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  const held: string[] = []
  const holding: SchedulerPlugin = {
    name: 'Holding',
    reserve: ({ pod: target }, nodeName) => void held.push(`${target.metadata.name} on ${nodeName}`),
    permit: (_cycle, _nodeName, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  }
  const { tasks } = await ownScheduler(cluster, [...schedulerPlugins, holding])
  const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '6' } } }] }
  const before = await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await clock.advance('5s')
  deepEqual(held, ['p on node-0'])
  await tasks[Symbol.asyncDispose]()
  deepEqual(await client.of(pod).get('p', 'default', ctx), before)
  cluster.start('scheduler')
  await clock.advance('5s')
  equal((await client.of(pod).get('p', 'default', ctx)).spec.nodeName, 'node-0')
})

test('a failed binding releases the resources, and the pod is retried', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  let failures = 0
  const failing: SchedulerPlugin = {
    name: 'Failing',
    preBind: () => (failures++ < 2 ? Promise.reject(new Error('not now')) : Promise.resolve()),
  }
  const { tasks } = await ownScheduler(cluster, [...schedulerPlugins, failing])
  await using _tasks = tasks
  const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '6' } } }] }
  await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await clock.advance('10s')
  equal((await client.of(pod).get('p', 'default', ctx)).spec.nodeName, 'node-0')
  equal(failures, 3)
})

test('several pending pods are scheduled in one turn; slow bindings do not delay other pods', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await cluster.kill('scheduler')
  const count = 160
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  for (let index = 0; index < count; index++)
    await client.of(pod).create({ metadata: { name: `p-${index}` }, spec }, 'default', ctx)
  const goes: number[] = []
  let isOver = false
  const counting: SchedulerPlugin = {
    name: 'Counting',
    reserve: () => {
      if (goes.length === 0 || isOver) {
        isOver = false
        goes.push(0)
        queueMicrotask(() => (isOver = true))
      }
      goes.push((goes.pop() ?? 0) + 1)
    },
    permit: (_cycle, _nodeName, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  }
  const { tasks } = await ownScheduler(cluster, [...schedulerPlugins, counting])
  await using _tasks = tasks
  await clock.advance('1s')
  deepEqual(goes, [...Array.from({ length: 8 }, () => 16), ...Array.from({ length: 32 }, () => 1)])
})
