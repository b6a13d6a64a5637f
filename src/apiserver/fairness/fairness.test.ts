// Priority and fairness: the level of a request, how seats are shared, and that a flood starves no other flow.
import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { flowSchema, type FlowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import { allowed } from '../authorization/authorizer.ts'
import { TestCaches } from '../watch-cache/caches.harness.ts'
import { userWithName, type Target, type User } from '../request/request.ts'
import { startServer } from '../server.harness.ts'
import { defaultSchemas, fairnessBootstrapObjects } from './default-flow-schemas.ts'
import { FairnessMetrics } from './fairness-metrics.ts'
import { Fairness, limitsOf } from './fairness.ts'
import { flowOf, FlowMatcher } from './flow-matching.ts'
import { flowSchemaReconciler } from './flow-schema-reconciler.ts'
import { PriorityLevel, type LevelLimits } from './priority-level.ts'
import { SeatPool } from './seat-pool.ts'
import { SecondPeak } from './second-peak.ts'
import { dealHand } from './shuffle-shard.ts'
import { openPolicies } from '../open-policies.ts'

const { signal } = new AbortController()
const known = 'system:authenticated'
const node = userWithName('system:node:n1', ['system:nodes', known])
const account = (namespace: string) =>
  userWithName(`system:serviceaccount:${namespace}:a`, ['system:serviceaccounts', known])
const of = (resource: typeof pod | typeof lease, verb: 'get' | 'update' = 'get'): Target => ({
  kind: 'resource',
  verb,
  resource,
  subresource: '',
  namespace: 'default',
  name: 'a',
})
const path = (text: string): Target => ({ kind: 'path', verb: 'get', path: text, accept: '' })

const schemas = defaultSchemas.map(({ name, spec }) => ({ metadata: { name }, spec }) as unknown as FlowSchema)
const meant: [string, User, Target, string][] = [
  ['an administrator', userWithName('admin', ['system:masters', known]), of(pod), 'exempt'],
  ['a probe', userWithName('system:anonymous', ['system:unauthenticated']), path('/livez'), 'probes'],
  [
    'a leader election lease',
    userWithName('system:kube-scheduler', [known]),
    of(lease, 'update'),
    'system-leader-election',
  ],
  ['a lease of a node', node, of(lease, 'update'), 'system-node-high'],
  ['any other request of a node', node, of(pod), 'system-nodes'],
  ['the scheduler', userWithName('system:kube-scheduler', [known]), of(pod), 'kube-scheduler'],
  ['a controller', account('kube-system'), of(pod), 'kube-system-service-accounts'],
  ['a workload', account('default'), of(pod), 'service-accounts'],
  ['a person', userWithName('jane', [known]), of(pod), 'global-default'],
]
for (const [name, user, target, expected] of meant)
  test(`${name} belongs to ${expected}`, () => {
    equal(new FlowMatcher(schemas).match(user, target)?.metadata.name, expected)
  })

test('flows are distinguished by user or by namespace', () => {
  const byName = (name: string) => schemas.find(({ metadata }) => metadata.name === name) ?? schemas[0]
  const request = { target: of(pod), user: userWithName('jane') }
  deepEqual(
    ['global-default', 'kube-scheduler', 'exempt'].map((name) => flowOf(byName(name) as FlowSchema, request)),
    ['global-default/jane', 'kube-scheduler/default', 'exempt'],
  )
})

test('a hand has distinct cards, and the same ones for the same flow', () => {
  for (let index = 0; index < 200; index++) {
    const hand = dealHand(`flow-${index}`, 16, 6)
    equal(new Set(hand).size, 6)
    ok(hand.every((card) => card >= 0 && card < 16))
    deepEqual(dealHand(`flow-${index}`, 16, 6), hand)
  }
  equal(new Set(Array.from({ length: 500 }, (_, index) => dealHand(`f${index}`, 128, 6)[0])).size > 100, true)
})

test('shares are converted to seats, some of which can be borrowed', () => {
  const limited = { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' }, lendablePercent: 33 }
  deepEqual(limitsOf({ type: 'Limited', limited }, 100, 600), {
    nominal: 100,
    lower: 67,
    upper: 600,
    queuing: undefined,
  })
  deepEqual(limitsOf({ type: 'Limited', limited: { ...limited, borrowingLimitPercent: 50 } }, 100, 600).upper, 150)
})

const limits = (nominal: number, rest: Partial<LevelLimits> = {}): LevelLimits => ({
  nominal,
  lower: nominal,
  upper: nominal,
  queuing: { queues: 4, handSize: 2, lengthMax: 2 },
  ...rest,
})
const noop = () => {}

test('a level lends seats that it does not need, and always has the rest', () => {
  const pool = new SeatPool(10)
  const clock = new VirtualClock()
  const lender = new PriorityLevel(limits(6, { lower: 2, queuing: undefined }), pool, clock)
  const borrower = new PriorityLevel(limits(4, { upper: 10, queuing: undefined }), pool, clock)
  const taken = Array.from({ length: 8 }, () => borrower.take('a', 1, signal, noop))
  throws(() => borrower.take('a', 1, signal, noop), /Too many requests, please try again later\./)
  const own = [lender.take('b', 1, signal, noop), lender.take('b', 1, signal, noop)]
  throws(() => lender.take('b', 1, signal, noop), /Too many requests/)
  const [first] = taken
  if (typeof first === 'function') first()
  ok(typeof lender.take('b', 1, signal, noop) === 'function')
  equal(own.length + borrower.running, 9)
})

test('queues are served in turn, whatever their length', async () => {
  const clock = new VirtualClock()
  const level = new PriorityLevel(
    limits(1, { queuing: { queues: 64, handSize: 1, lengthMax: 50 } }),
    new SeatPool(1),
    clock,
  )
  const order: string[] = []
  const running = level.take('first', 1, signal, noop)
  const run = async (flow: string) => {
    const leave = await level.take(flow, 1, signal, noop)
    order.push(flow)
    leave()
  }
  const all = [run('long'), run('long'), run('long'), run('short'), run('short')]
  if (typeof running === 'function') running()
  await Promise.all(all)
  deepEqual(order, ['long', 'short', 'long', 'short', 'long'])
})

test('a full queue rejects, a long wait times out, and an aborted request is removed', async () => {
  const clock = new VirtualClock()
  const level = new PriorityLevel(
    limits(1, { queuing: { queues: 1, handSize: 1, lengthMax: 2 } }),
    new SeatPool(1),
    clock,
  )
  const reasons: string[] = []
  const rejected = (reason: string) => void reasons.push(reason)
  const leave = level.take('a', 1, signal, rejected)
  const client = new AbortController()
  const gone = Promise.resolve(level.take('a', 1, client.signal, rejected))
  const late = rejects(Promise.resolve(level.take('a', 1, signal, rejected)), { code: 429 })
  throws(() => level.take('a', 1, signal, rejected), { code: 429 })
  client.abort(new Error('gone'))
  await rejects(gone, /gone/)
  await clock.advance(15_000)
  await late
  deepEqual([reasons, level.waiting, level.running], [['queue-full', 'time-out'], 0, 1])
  if (typeof leave === 'function') leave()
  equal(level.running, 0)
})

test('the width of a list depends on the number of its objects', async () => {
  const caches = new TestCaches()
  const fairness = new Fairness(caches, {
    clock: new VirtualClock(),
    metrics: new FairnessMetrics(new Metrics()),
    seats: 600,
  })
  for (const { kind, object } of fairnessBootstrapObjects) caches.set(kind, object)
  for (let index = 0; index < 950; index++)
    caches.set(pod, { metadata: { name: `p${index}`, namespace: 'default' } } as never)
  const target: Target = { kind: 'resource', verb: 'list', resource: pod, subresource: '', namespace: '', name: '' }
  const jane = userWithName('jane', [known])
  const request = { context: { signal }, target, user: jane, query: new URLSearchParams() } as never
  // All seats except those that other levels do not lend can be borrowed; each list takes ten.
  let count = 0
  while (typeof fairness.seatOf(request).take() === 'function') count++
  ok(count > 5 && count < 60, `${count} lists at once`)
})

test('a flood of one user starves neither another user nor a node, and exempt requests never wait', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const fairnessMetrics = new FairnessMetrics(metrics)
  const held: (() => void)[] = []
  await using api = await startServer(
    (caches) => ({
      ...openPolicies,
      seatOf: new Fairness(caches, { clock, metrics: fairnessMetrics, seats: 60 }).seatOf,
      authorize: ({ user }) =>
        user.name === 'flooder' ? new Promise((resolve) => held.push(() => resolve(allowed()))) : allowed(),
    }),
    { clock, bootstrapObjects: fairnessBootstrapObjects },
  )
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'kube-node-lease' } })
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
  const made = (await api.call('POST', leases, { metadata: { name: 'n1' }, spec: { holderIdentity: 'n1' } })).body
  const maps = '/api/v1/namespaces/default/configmaps/absent'
  const flood = Array.from({ length: 500 }, () => api.call('GET', maps, undefined, { as: 'flooder' }))
  await clock.settle()
  const running = held.length
  ok(running > 0 && running <= 60, `${running} run`)
  const series = 'priority_level="global-default",flow_schema="global-default"'
  const shown = (name: string, labels = series) =>
    Number(metrics.text().split(`apiserver_flowcontrol_${name}{${labels}} `)[1]?.split('\n')[0])
  deepEqual(
    [shown('current_executing_requests'), shown('current_executing_seats'), shown('current_inqueue_requests')],
    [running, running, 300],
  )
  equal(shown('current_inqueue_seats'), 300)
  // Those that started at once, and six queues of fifty.
  equal(shown('request_queue_length_after_enqueue_count'), running + 300)
  equal(shown('request_queue_length_after_enqueue_sum'), running + 6 * ((50 * 51) / 2))
  deepEqual(
    ['nominal', 'lower', 'upper'].map((limit) => shown(`${limit}_limit_seats`, 'priority_level="global-default"')),
    [5, 2, 60],
  )

  for (let index = 1; index <= 20; index++) {
    const spec = { ...made.spec, leaseTransitions: index }
    const renewal = await api.call(
      'PUT',
      `${leases}/n1`,
      { metadata: { name: 'n1' }, spec },
      { as: 'system:node:n1,system:nodes' },
    )
    equal(renewal.status, 200, 'a node renews its lease while the flood stands')
    equal((await api.call('GET', maps)).status, 404, 'an administrator is never queued')
  }

  const answered: object[] = []
  const read = api.call('GET', maps, undefined, { as: 'reader' }).then((answer) => {
    answered.push(answer)
    return answer
  })
  await clock.settle()
  equal(answered.length, 0, 'all seats of the level are taken')
  let released = 0
  while (answered.length === 0) {
    const release = held.shift()
    ok(release !== undefined && released < 10, 'the reader has its turn after a few others')
    release()
    released++
    await clock.settle()
  }
  const { status, headers } = await read
  equal(status, 404)
  const schema = (await api.call('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/global-default')).body
  equal(headers['x-kubernetes-pf-flowschema-uid'], schema.metadata.uid)
  ok(headers['x-kubernetes-pf-prioritylevel-uid'] !== undefined)

  const ended: object[] = []
  for (const call of flood) void call.then((answer) => ended.push(answer))
  while (ended.length < flood.length) {
    for (const release of held.splice(0)) release()
    await clock.settle()
  }
  const answers = await Promise.all(flood)
  const refused = answers.filter((answer) => answer.status === 429)
  equal(refused.length, 500 - running - 300, 'six queues of fifty wait, the others are refused')
  equal(refused[0]?.headers['retry-after'], '1')
  equal(refused[0]?.body.message, 'Too many requests, please try again later.')
  ok(metrics.text().includes('reason="queue-full"'))
  deepEqual(
    [
      shown('current_executing_requests'),
      shown('current_inqueue_requests'),
      shown('request_execution_seconds_count', `${series},type="regular"`),
      shown('request_wait_duration_seconds_count', `${series},execute="false"`),
      shown('work_estimated_seats_count'),
    ],
    [0, 0, running + 301, refused.length, 501],
  )
})

test('the use of a level and of each kind of requests is measured over time', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const caches = new TestCaches()
  const fairness = new Fairness(caches, { clock, metrics: new FairnessMetrics(metrics), seats: 600 })
  for (const { kind, object } of fairnessBootstrapObjects) caches.set(kind, object)
  caches.watchers = () => 7
  const take = (user: User, verb: 'get' | 'update', more: object = {}) =>
    fairness.seatOf({ context: { signal }, target: { ...of(pod, verb), ...more }, user } as never).take()
  const reader = take(userWithName('jane', [known]), 'get')
  const writer = take(userWithName('admin', ['system:masters', known]), 'update')
  void take(userWithName('admin', ['system:masters', known]), 'update', { subresource: 'token' })
  await clock.advance(1_000)
  for (const leave of [reader, writer]) if (typeof leave === 'function') leave()
  await clock.advance(3_000)
  const text = metrics.text()
  const shown = (name: string, labels: string) => Number(text.split(`\n${name}{${labels}} `)[1]?.split('\n')[0])
  const second = 1e9
  const level = 'apiserver_flowcontrol_priority_level'
  const busy = 'phase="executing",priority_level="global-default"'
  equal(shown(`${level}_request_utilization_bucket`, `${busy},le="0"`), 3 * second)
  equal(shown(`${level}_request_utilization_count`, busy), 4 * second)
  // One of 49 seats for a second.
  equal(shown(`${level}_request_utilization_sum`, busy), second / 49)
  equal(shown(`${level}_seat_utilization_sum`, busy), second / 49)
  equal(shown(`${level}_request_utilization_sum`, 'phase="waiting",priority_level="global-default"'), 0)
  equal(shown(`${level}_request_utilization_bucket`, 'phase="executing",priority_level="exempt",le="1"'), 3 * second)
  const kinds = 'apiserver_flowcontrol_read_vs_write_current_requests'
  const limit = 603
  equal(shown(`${kinds}_sum`, 'phase="executing",request_kind="readOnly"'), (1 / limit) * second)
  equal(
    shown(`${kinds}_sum`, 'phase="executing",request_kind="mutating"'),
    (2 / limit) * second + (1 / limit) * 3 * second,
  )
  const exempt = 'priority_level="exempt",flow_schema="exempt"'
  equal(shown('apiserver_flowcontrol_watch_count_samples_sum', exempt), 7)
  equal(shown('apiserver_flowcontrol_watch_count_samples_count', exempt), 1)
})

test('the peak of the last second is shown, then that of quiet ones', () => {
  const peak = new SecondPeak()
  peak.add(1, 100)
  peak.add(4, 200)
  peak.add(-3, 300)
  deepEqual([peak.read(900), peak.read(1_000), peak.read(1_999), peak.read(2_000), peak.read(9_000)], [0, 5, 5, 2, 2])
  peak.add(-2, 9_500)
  deepEqual([peak.read(10_000), peak.read(11_000)], [2, 0])
})

test('a changed default is restored unless its annotation prevents that', () => {
  const seed = fairnessBootstrapObjects.find(
    ({ kind, object }) => kind === flowSchema && object.metadata.name === 'probes',
  )
  const changed = { ...seed?.object, spec: { matchingPrecedence: 7 } }
  const kept = {
    ...changed,
    metadata: { name: 'probes', annotations: { 'apf.kubernetes.io/autoupdate-spec': 'false' } },
  }
  ok(seed?.update?.(changed as never) !== undefined)
  equal(seed?.update?.(kept as never), undefined)
  equal(fairnessBootstrapObjects.filter(({ kind }) => kind === priorityLevelConfiguration).length, 8)
})

test('the default FlowSchemas report that their level exists', async () => {
  await using server = await startServer(undefined, { bootstrapObjects: fairnessBootstrapObjects })
  const { body } = await server.call('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes')
  const { status } = body as unknown as { status: { conditions: { type: string; status: string; message: string }[] } }
  const [condition] = status.conditions
  deepEqual(
    [condition?.type, condition?.status, condition?.message],
    [
      'Dangling',
      'False',
      'This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists',
    ],
  )
})

test('deleted defaults are restored, and every FlowSchema reports whether its level exists', async () => {
  await using server = await startServer(undefined, {
    bootstrapObjects: fairnessBootstrapObjects,
    reconcilers: [flowSchemaReconciler],
  })
  const group = '/apis/flowcontrol.apiserver.k8s.io/v1'
  const dangling = async (name: string) => {
    await server.clock.settle()
    const { body } = await server.call('GET', `${group}/flowschemas/${name}`)
    const { conditions = [] } = (body as { status: { conditions?: Record<string, string>[] } }).status
    return conditions.map(({ type, status, reason, message }) => [type, status, reason, message])
  }
  const about = 'This FlowSchema references the PriorityLevelConfiguration object named "mine"'
  const spec = { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 50 }
  equal((await server.call('POST', `${group}/flowschemas`, { metadata: { name: 'own' }, spec })).status, 201)
  deepEqual(await dangling('own'), [['Dangling', 'True', 'NotFound', `${about} but there is no such object`]])
  const level = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }
  await server.call('POST', `${group}/prioritylevelconfigurations`, { metadata: { name: 'mine' }, spec: level })
  deepEqual(await dangling('own'), [['Dangling', 'False', 'Found', `${about} and it exists`]])
  await server.call('DELETE', `${group}/prioritylevelconfigurations/mine`)
  deepEqual((await dangling('own'))[0]?.slice(0, 3), ['Dangling', 'True', 'NotFound'])

  for (const object of ['flowschemas/exempt', 'flowschemas/probes', 'prioritylevelconfigurations/workload-low']) {
    const before = (await server.call('GET', `${group}/${object}`)).body.metadata.uid
    equal((await server.call('DELETE', `${group}/${object}`)).status, 200)
    await server.clock.settle()
    const { status, body } = await server.call('GET', `${group}/${object}`)
    deepEqual([status, body.metadata.uid === before], [200, false], object)
  }
  const merge = { 'content-type': 'application/merge-patch+json' }
  const change = (name: string, matchingPrecedence: number, isOurs: string) =>
    server.call(
      'PATCH',
      `${group}/flowschemas/${name}`,
      { metadata: { annotations: { 'apf.kubernetes.io/autoupdate-spec': isOurs } }, spec: { matchingPrecedence } },
      merge,
    )
  const precedence = async (name: string) => {
    await server.clock.settle()
    return (await server.call('GET', `${group}/flowschemas/${name}`)).body.spec.matchingPrecedence
  }
  await change('probes', 77, 'true')
  equal(await precedence('probes'), 2)
  await change('probes', 77, 'false')
  equal(await precedence('probes'), 77, 'who changes a default and says so keeps the change')
  await change('catch-all', 77, 'false')
  equal(await precedence('catch-all'), 10_000, 'but not of those that noop can do without')
})
