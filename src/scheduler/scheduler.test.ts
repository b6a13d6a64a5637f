// Decision tables per plugin, the cycle, the queue, and the scheduler in a cluster.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/context.ts'
import { FlowRecorder, noCause } from '../base/flow.ts'
import { silentLog } from '../base/log.ts'
import { seededRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { event } from '../api/core/v1/event.ts'
import { node, type Node } from '../api/core/v1/node.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import type { Kind } from '../api/kind.ts'
import type { ApiObject } from '../api/object.ts'
import { Informers } from '../client/informers.ts'
import { startCluster } from '../cluster/start-cluster.ts'
import { decode } from '../schema/decode.ts'
import { withDefaults } from '../schema/defaults.ts'
import { decide } from './cycle.ts'
import { fits, type SchedulerPlugin } from './framework.ts'
import { schedulerPlugins } from './plugins.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { nodeResourcesFit } from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { taintToleration } from './plugins/taint-toleration.ts'
import { SchedulingQueue } from './queue.ts'
import { Scheduler, schedulerName } from './scheduler.ts'
import { Snapshot } from './snapshot.ts'

const ctx = context(new AbortController().signal)

function made<T extends ApiObject>(kind: Kind<T>, name: string, body: object): T {
  const full = {
    metadata: { name, uid: name, resourceVersion: '1', ...(kind.namespaced ? { namespace: 'default' } : {}) },
    ...body,
  }
  return kind.applyDefaults(
    withDefaults(kind.message, {
      ...decode(kind.message, full).value,
      apiVersion: kind.apiVersion,
      kind: kind.kind,
    } as unknown as T),
  )
}

const aPod = (name: string, spec: object = {}, requests: object = {}): Pod =>
  made(pod, name, { spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec } })
const aNode = (name: string, spec: object = {}, allocatable: object = { cpu: '4', memory: '8Gi', pods: '10' }): Node =>
  made(node, name, { spec, status: { allocatable } })

function snapshotOf(nodes: Node[], placed: [Pod, string][] = []): Snapshot {
  const snapshot = new Snapshot()
  for (const each of nodes) snapshot.setNode(each)
  for (const [each, nodeName] of placed) snapshot.place(each, nodeName)
  return snapshot
}

const verdict = (plugin: SchedulerPlugin, target: Pod, on: Node, placed: Pod[] = []) => {
  const snapshot = snapshotOf(
    [on],
    placed.map((each) => [each, on.metadata.name]),
  )
  const state = snapshot.get(on.metadata.name)
  return state === undefined ? fits : (plugin.filter?.({ pod: target, snapshot }, state) ?? fits)
}

const reason = (...args: Parameters<typeof verdict>) => {
  const result = verdict(...args)
  return result.kind === 'fits' ? 'fits' : result.reason
}

const tainted = (effect: string) => aNode('n', { taints: [{ key: 'k', value: 'v', effect }] })
const filters: [why: string, plugin: SchedulerPlugin, pod: Pod, node: Node, placed: Pod[], reason: string][] = [
  ['room', nodeResourcesFit, aPod('p', {}, { cpu: '4', memory: '8Gi' }), aNode('n'), [], 'fits'],
  ['too much cpu', nodeResourcesFit, aPod('p', {}, { cpu: '4001m' }), aNode('n'), [], 'Insufficient cpu'],
  [
    'both short',
    nodeResourcesFit,
    aPod('p', {}, { cpu: '5', memory: '9Gi' }),
    aNode('n'),
    [],
    'Insufficient cpu, Insufficient memory',
  ],
  [
    'used by others',
    nodeResourcesFit,
    aPod('p', {}, { cpu: '2' }),
    aNode('n'),
    [aPod('a', {}, { cpu: '3' })],
    'Insufficient cpu',
  ],
  ['no request needs no room', nodeResourcesFit, aPod('p'), aNode('n'), [aPod('a', {}, { cpu: '4' })], 'fits'],
  ['too many pods', nodeResourcesFit, aPod('p'), aNode('n', {}, { pods: '1' }), [aPod('a')], 'Too many pods'],
  [
    'a cordoned node',
    nodeUnschedulable,
    aPod('p'),
    aNode('n', { unschedulable: true }),
    [],
    'node(s) were unschedulable',
  ],
  [
    'a cordon tolerated',
    nodeUnschedulable,
    aPod('p', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    aNode('n', { unschedulable: true }),
    [],
    'fits',
  ],
  ['a taint', taintToleration, aPod('p'), tainted('NoSchedule'), [], 'node(s) had untolerated taint {k: v}'],
  ['a taint that evicts', taintToleration, aPod('p'), tainted('NoExecute'), [], 'node(s) had untolerated taint {k: v}'],
  ['a soft taint', taintToleration, aPod('p'), tainted('PreferNoSchedule'), [], 'fits'],
  [
    'a taint tolerated',
    taintToleration,
    aPod('p', { tolerations: [{ key: 'k', value: 'v' }] }),
    tainted('NoSchedule'),
    [],
    'fits',
  ],
]
for (const [why, plugin, target, on, placed, wanted] of filters)
  test(`${plugin.name}: ${why}`, () => equal(reason(plugin, target, on, placed), wanted))

test('scores: the emptier node, fewer soft taints', () => {
  const snapshot = snapshotOf([aNode('empty'), aNode('half')], [[aPod('a', {}, { cpu: '2', memory: '4Gi' }), 'half']])
  const score = (name: string) =>
    nodeResourcesFit.score?.({ pod: aPod('p', {}, { cpu: '1', memory: '2Gi' }), snapshot }, snapshot.get(name) as never)
  deepEqual([score('empty'), score('half')], [75, 25])
  const soft = new Map([
    ['a', 0],
    ['b', 2],
    ['c', 1],
  ])
  taintToleration.normalizeScores?.(soft)
  deepEqual([...soft.values()], [100, 0, 50])
  const none = new Map([['a', 0]])
  taintToleration.normalizeScores?.(none)
  deepEqual([...none.values()], [100])
})

test('the cycle chooses the best, keeps every verdict, and sums up when nothing fits', () => {
  const nodes = [
    aNode('small', {}, { cpu: '1', pods: '10' }),
    aNode('cordoned', { unschedulable: true }),
    aNode('tainted', { taints: [{ key: 'k', effect: 'NoSchedule' }] }),
    aNode('good'),
  ]
  const target = aPod('p', {}, { cpu: '2' })
  const chosen = decide({ pod: target, snapshot: snapshotOf(nodes) }, schedulerPlugins, seededRandom(1))
  equal(chosen.kind === 'chosen' && chosen.nodeName, 'good')
  deepEqual(
    [...chosen.rejected].map(([name, { plugin }]) => `${name} ${plugin}`),
    ['small NodeResourcesFit', 'cordoned NodeUnschedulable', 'tainted TaintToleration'],
  )
  const refused = decide({ pod: target, snapshot: snapshotOf(nodes.slice(0, 3)) }, schedulerPlugins, seededRandom(1))
  equal(
    refused.kind === 'unschedulable' && refused.message,
    '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {k: }, 1 node(s) were unschedulable.',
  )
  const nowhere = decide({ pod: target, snapshot: new Snapshot() }, schedulerPlugins, seededRandom(1))
  equal(nowhere.kind === 'unschedulable' && nowhere.message, 'no nodes available to schedule pods')
})

test('a preFilter rejection ends the cycle for every node', () => {
  const picky: SchedulerPlugin = {
    name: 'Picky',
    preFilter: () => ({ kind: 'rejected', reason: 'not today', resolvable: false }),
  }
  const decision = decide({ pod: aPod('p'), snapshot: snapshotOf([aNode('a'), aNode('b')]) }, [picky], seededRandom(1))
  equal(decision.kind === 'unschedulable' && decision.message, '0/2 nodes are available: 2 not today.')
})

test('the snapshot counts a pod once, also when its node comes late or it moves', () => {
  const snapshot = new Snapshot()
  const target = aPod('p', {}, { cpu: '1' })
  snapshot.place(target, 'n')
  snapshot.setNode(aNode('n'))
  snapshot.place(target, 'n')
  deepEqual([snapshot.get('n')?.requested.cpuMillis, snapshot.get('n')?.podCount], [1000, 1])
  snapshot.setNode(aNode('m'))
  snapshot.place(target, 'm')
  deepEqual([snapshot.get('n')?.podCount, snapshot.get('m')?.podCount], [0, 1])
  snapshot.remove(target)
  snapshot.remove(target)
  deepEqual([snapshot.get('m')?.requested.cpuMillis, snapshot.get('m')?.podCount], [0, 0])
  snapshot.removeNode('m')
  equal(snapshot.size, 1)
})

test('the queue: priority first, then arrival; failures back off; the parked wait for help', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue(clock, prioritySort.queueSort ?? (() => 0))
  for (const [name, priority] of [
    ['a', 0],
    ['b', 0],
    ['c', 10],
  ] as const)
    queue.add(aPod(name, { priority }), noCause)
  const take = async () => queue.take(ctx.signal)
  const order: string[] = []
  for (let i = 0; i < 3; i++) order.push((await take())?.pod.metadata.name ?? '')
  deepEqual(order, ['c', 'a', 'b'])

  queue.retry({ pod: aPod('a'), cause: noCause, attempts: 1, rejectedBy: new Set() })
  const waiting = take()
  await clock.advance(1999)
  equal(queue.size, 1)
  await clock.advance(1)
  equal((await waiting)?.attempts, 2)

  queue.park({ pod: aPod('b'), cause: noCause, attempts: 0, rejectedBy: new Set() }, new Set(['NodeResourcesFit']))
  queue.wake(() => false, noCause)
  await clock.advance('1m')
  equal(queue.size, 1)
  queue.wake(({ rejectedBy }) => rejectedBy.has('NodeResourcesFit'), noCause)
  await clock.advance('1s')
  equal((await take())?.pod.metadata.name, 'b')

  queue.park({ pod: aPod('d'), cause: noCause, attempts: 0, rejectedBy: new Set() }, new Set())
  const patient = take()
  await clock.advance('5m')
  equal((await patient)?.pod.metadata.name, 'd', 'after five minutes it is tried all the same')

  queue.add(aPod('e'), noCause)
  queue.remove('default/e')
  const closed = take()
  queue.close()
  equal(await closed, undefined)
  equal(clock.pendingTimers, 0)
})

test('DefaultBinder binds through the binding subresource', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const target = await cluster.client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'default', ctx)
  equal(await defaultBinder.bind?.({ pod: target, snapshot: new Snapshot() }, 'somewhere', cluster.client, ctx), true)
  equal((await cluster.client.of(pod).get('p', 'default', ctx)).spec.nodeName, 'somewhere')
})

test('a pod that nothing fits says so, and is bound as soon as something does', async () => {
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
    [undefined, 'False', 'Unschedulable', '0/1 nodes are available: 1 Insufficient cpu.'],
  )
  const events = (await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=second' }, ctx)).items
  match(
    events.map(({ reason: why, message }) => `${why} ${message}`).join(),
    /FailedScheduling 0\/1 nodes are available: 1 Insufficient cpu\./,
  )
  await pods.delete('first', 'default', {}, ctx)
  await cluster.clock.advance('40s')
  const bound = await pods.get('second', 'default', ctx)
  deepEqual([bound.spec.nodeName, bound.status.phase], ['node-0', 'Running'])
})

test('a pod for another scheduler is left alone', async () => {
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

test('the scheduler keeps its decision: why the pod is where it is, until the pod is gone', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await cluster.kill('scheduler')
  await using tasks = new TaskGroup()
  const { client, clock } = cluster
  const parts = {
    client,
    clock,
    random: seededRandom(1),
    flow: new FlowRecorder(clock),
    log: silentLog,
    plugins: schedulerPlugins,
  }
  const scheduler = new Scheduler({ ...parts, informers: new Informers(client, parts, tasks) })
  scheduler.start(tasks)
  const target = await client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'default', ctx)
  equal(target.spec.schedulerName, schedulerName)
  await clock.advance('1s')
  const decision = scheduler.decisionOf('default/p')
  equal(decision?.kind === 'chosen' && decision.nodeName, (await client.of(pod).get('p', 'default', ctx)).spec.nodeName)
  deepEqual(decision?.kind === 'chosen' && [...decision.scores.keys()], ['node-0', 'node-1'])
  await client.of(pod).delete('p', 'default', { gracePeriodSeconds: 0 }, ctx)
  await clock.advance('5s')
  equal(scheduler.decisionOf('default/p'), undefined)
})

test('when nothing fits, a plugin may nominate a node; the pod says which', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  await cluster.kill('scheduler')
  await using tasks = new TaskGroup()
  const { client, clock } = cluster
  const asked: string[] = []
  const preempting: SchedulerPlugin = {
    name: 'Preempting',
    postFilter(cycle, verdicts) {
      asked.push(`${cycle.pod.metadata.name} ${[...verdicts].map(([name, { kind }]) => `${name} ${kind}`).join()}`)
      return Promise.resolve('node-0')
    },
  }
  const parts = {
    client,
    clock,
    random: seededRandom(1),
    flow: new FlowRecorder(clock),
    log: silentLog,
    plugins: [...schedulerPlugins, preempting],
  }
  new Scheduler({ ...parts, informers: new Informers(client, parts, tasks) }).start(tasks)
  await client.of(pod).create(
    {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '99' } } }] },
    },
    'default',
    ctx,
  )
  await clock.advance('1s')
  deepEqual(asked, ['p node-0 rejected'])
  equal((await client.of(pod).get('p', 'default', ctx)).status.nominatedNodeName, 'node-0')
})
