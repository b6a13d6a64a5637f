// Tables for conditions and taints of nodes, and the failure and return of a node in a cluster.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { event } from '../../api/core/v1/event.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { adminUser } from '../../cluster/client/component-users.ts'
import { controllerSettingsOf } from '../../cluster/flags/controller-flags.ts'
import { buildRequestPolicies } from '../../cluster/policy/request-policies.ts'
import { Cluster } from '../../cluster/run/cluster.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { NodeMetrics } from '../metrics/node-metrics.ts'
import type { NodeLifecycleSettings } from '../runtime/controller-settings.ts'
import { labels, made, template } from '../runtime/plan.harness.ts'
import { unknownConditions } from './node-conditions.ts'
import { updateZones } from './node-lifecycle.ts'
import { changedTaints, evictionState } from './node-taints.ts'
import { nodeLifecycleDefaults, zoneOf, ZoneDisruption } from './zone-disruption.ts'

const ctx = context(new AbortController().signal)
const now = '2030-01-01T00:00:00Z'

const aNode = (conditions: Record<string, string>, spec: object = {}, zone = 'z', name = 'n'): Node =>
  made(node, name, {
    metadata: { labels: { 'topology.kubernetes.io/zone': zone } },
    spec,
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  })

const taint = (name: string, effect = 'NoSchedule') => ({ key: `node.kubernetes.io/${name}`, effect })

const taints: [why: string, node: Node, mayEvict: boolean, taints: string[] | undefined][] = [
  ['that is ready has no taints', aNode({ Ready: 'True' }), true, undefined],
  ['that became ready loses its taints', aNode({ Ready: 'True' }, { taints: [taint('not-ready')] }), true, []],
  [
    'that is ready keeps other taints',
    aNode({ Ready: 'True' }, { taints: [{ key: 'a', effect: 'NoExecute' }, taint('unreachable', 'NoExecute')] }),
    true,
    ['a:NoExecute'],
  ],
  ['that is not ready', aNode({ Ready: 'False' }), true, ['not-ready:NoSchedule', 'not-ready:NoExecute']],
  [
    'without permission for eviction gets no NoExecute taint',
    aNode({ Ready: 'Unknown' }),
    false,
    ['unreachable:NoSchedule'],
  ],
  [
    'that stops reporting changes from not-ready to unreachable',
    aNode({ Ready: 'Unknown' }, { taints: [taint('not-ready'), taint('not-ready', 'NoExecute')] }),
    true,
    ['unreachable:NoSchedule', 'unreachable:NoExecute'],
  ],
  [
    'under pressure',
    aNode({ Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' }),
    true,
    ['memory-pressure:NoSchedule', 'disk-pressure:NoSchedule', 'pid-pressure:NoSchedule'],
  ],
  ['without a network', aNode({ NetworkUnavailable: 'True' }), true, ['network-unavailable:NoSchedule']],
  ['that is cordoned', aNode({ Ready: 'True' }, { unschedulable: true }), true, ['unschedulable:NoSchedule']],
  [
    'with an unknown pressure condition loses the pressure taint',
    aNode({ Ready: 'True', MemoryPressure: 'Unknown' }, { taints: [taint('memory-pressure')] }),
    true,
    [],
  ],
]
for (const [why, object, mayEvict, wanted] of taints)
  test(`a node ${why}`, () =>
    deepEqual(
      changedTaints(object, mayEvict, now)?.map(({ key, effect }) => `${key.replace(/^.*\//, '')}:${effect}`),
      wanted,
    ))

test('the eviction state of a node', () => {
  deepEqual(
    [
      aNode({ Ready: 'True' }),
      aNode({ Ready: 'Unknown' }),
      aNode({ Ready: 'Unknown' }, { taints: [taint('unreachable', 'NoExecute')] }),
    ].map(evictionState),
    ['none', 'due', 'evicting'],
  )
})

test('the conditions of a node that stopped reporting become Unknown, once', () => {
  const stopped = made(node, 'n', { status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  const conditions = unknownConditions(stopped, now) ?? []
  deepEqual(
    conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`),
    [
      'Ready Unknown NodeStatusUnknown: Kubelet stopped posting node status.',
      'MemoryPressure Unknown NodeStatusNeverUpdated: Kubelet never posted node status.',
      'DiskPressure Unknown NodeStatusNeverUpdated: Kubelet never posted node status.',
      'PIDPressure Unknown NodeStatusNeverUpdated: Kubelet never posted node status.',
    ],
  )
  equal(unknownConditions({ ...stopped, status: { ...stopped.status, conditions } }, now), undefined)
})

const many = (count: number, unready: number, zone = 'z'): Node[] =>
  Array.from({ length: count }, (_, index) =>
    aNode({ Ready: index < unready ? 'Unknown' : 'True' }, {}, zone, `${zone}-${index}`),
  )
const rates: [why: string, nodes: Node[], intervalMs: number][] = [
  ['one of two nodes is not ready', many(2, 1), 10_000],
  ['two of three nodes are not ready, which is too few for a disruption', many(3, 2), 10_000],
  ['most nodes of a small zone are not ready', many(10, 6), Infinity],
  ['55 % of a large zone are not ready', many(100, 55), 100_000],
  ['54 % of a large zone are not ready', many(100, 54), 10_000],
  ['no node of a zone is ready, but those of another are', [...many(3, 3), ...many(3, 0, 'other')], 10_000],
  ['no node is ready', [...many(3, 3), ...many(3, 3, 'other')], Infinity],
]
for (const [why, nodes, intervalMs] of rates)
  test(`evictions are ${intervalMs} ms apart when ${why}`, () => {
    const zones = new ZoneDisruption()
    for (const each of nodes) zones.update(undefined, each)
    equal(zones.evictionIntervalMs(zoneOf(aNode({}))), intervalMs)
  })

test('the rates of evictions, and what is a disruption, are configurable', () => {
  const zones = new ZoneDisruption()
  for (const each of many(10, 6)) zones.update(undefined, each)
  const interval = (changed: Partial<NodeLifecycleSettings>) =>
    zones.evictionIntervalMs(zoneOf(aNode({})), { ...nodeLifecycleDefaults, ...changed })
  equal(interval({ disruptedShare: 0.7 }), 10_000)
  equal(interval({ disruptedShare: 0.7, evictionRate: 2 }), 500)
  equal(interval({ disruptedShare: 0.7, evictionRate: 0 }), Infinity)
  equal(interval({ largeZoneNodes: 9 }), 100_000)
  equal(interval({ largeZoneNodes: 9, disruptedEvictionRate: 1 }), 1_000)
})

test('the time without a heartbeat, and the number of finished pods, are those of the flags', async () => {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const accountKey = nodePlatform.crypto.generateKey()
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, accountKey })
  const cluster = new Cluster({
    clock,
    random,
    log: silentLog,
    store: new MemoryStore(clock),
    policies,
    nodes: 0,
    controllerSettings: controllerSettingsOf({
      'node-monitor-grace-period': '8s',
      'node-startup-grace-period': '20s',
      'terminated-pod-gc-threshold': '1',
    }),
  })
  await using _stopped = { [Symbol.asyncDispose]: () => cluster.stop() }
  cluster.start()
  const client = cluster.client('test', adminUser)
  const [name, other] = ['reported', 'silent']
  for (const each of [name, other]) await client.of(node).create({ metadata: { name: each }, spec: {} }, '', ctx)
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }]
  await client.of(node).patch(name, '', { status: { conditions } }, 'merge', ctx, 'status')
  const ready = async (of: string) =>
    (await client.of(node).get(of, '', ctx)).status.conditions?.find(({ type }) => type === 'Ready')?.status
  await clock.advance('7s')
  deepEqual([await ready(name), await ready(other)], ['True', undefined])
  await clock.advance('3s')
  deepEqual([await ready(name), await ready(other)], ['Unknown', undefined])
  await clock.advance('12s')
  equal(await ready(other), 'Unknown')

  for (const each of ['a', 'b', 'c']) {
    const spec = { containers: [{ name: 'c', image: 'i' }], nodeName: name }
    await client.of(pod).create({ metadata: { name: each }, spec }, 'default', ctx)
    await client.of(pod).patch(each, 'default', { status: { phase: 'Succeeded' } }, 'merge', ctx, 'status')
    await clock.advance('1s')
  }
  await clock.advance('1m')
  const left = (await client.of(pod).list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(left, ['c'])
})

test('zones are updated when nodes change, move to another zone and are deleted', () => {
  const zones = new ZoneDisruption()
  const dead = aNode({ Ready: 'Unknown' })
  const alive = aNode({ Ready: 'True' })
  const moved = aNode({ Ready: 'Unknown' }, {}, 'other')
  const steps: [before: Node | undefined, now: Node | undefined, z: number, other: number][] = [
    [undefined, dead, Infinity, Infinity],
    [dead, alive, 10_000, Infinity],
    [undefined, moved, 10_000, 10_000],
    [moved, dead, 10_000, Infinity],
    [alive, undefined, Infinity, Infinity],
  ]
  for (const [before, after, z, other] of steps) {
    zones.update(before, after)
    deepEqual([zones.evictionIntervalMs(zoneOf(dead)), zones.evictionIntervalMs(zoneOf(moved))], [z, other])
  }
})

test('pods are evicted from a node that stops reporting, and the node is used again when it returns', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const spec = { replicas: 4, selector: { matchLabels: labels }, template: template('1') }
  await client.of(deployment).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  await clock.advance('15s')
  const dead = 'node-1'
  const read = () => client.of(node).get(dead, '', ctx)
  const podsThere = async () =>
    (await client.of(pod).list({ namespace: 'default' }, ctx)).items.filter(({ spec: each }) => each.nodeName === dead)
  const ready = async () => (await read()).status.conditions?.find(({ type }) => type === 'Ready')?.status
  equal((await read()).spec.taints, undefined)
  equal((await podsThere()).length, 2)

  await cluster.kill(`kubelet/${dead}`)
  await clock.advance('39s')
  equal(await ready(), 'True')
  await clock.advance('12s')
  equal(await ready(), 'Unknown')
  deepEqual(
    (await read()).spec.taints?.map(({ key, effect }) => `${key} ${effect}`),
    ['node.kubernetes.io/unreachable NoSchedule', 'node.kubernetes.io/unreachable NoExecute'],
  )
  deepEqual((await podsThere()).map(isPodReady), [false, false])
  const recorded = (await client.of(event).list({ namespace: 'default' }, ctx)).items
  equal(recorded.filter(({ reason }) => reason === 'NodeNotReady').length, 3, 'one for the node and one for each pod')

  await clock.advance('290s')
  deepEqual(
    (await podsThere()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined),
    [],
  )
  await clock.advance('15s')
  deepEqual(
    (await podsThere()).map(({ metadata, status }) => [
      metadata.deletionTimestamp !== undefined,
      status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
    ]),
    [
      [true, 'DeletionByTaintManager'],
      [true, 'DeletionByTaintManager'],
    ],
  )
  const available = async () => (await client.of(deployment).get('web', 'default', ctx)).status.availableReplicas
  equal(await available(), 4, 'all run on the other node')

  cluster.start(`kubelet/${dead}`)
  await clock.advance('40s')
  equal(await ready(), 'True')
  equal((await read()).spec.taints, undefined)
  deepEqual(await podsThere(), [], 'its kubelet has stopped the deleted pods')
  equal(await available(), 4)
})

test('nothing is evicted when all nodes stop reporting', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  await clock.advance('15s')
  await cluster.kill('kubelet/node-0')
  await clock.advance('2m')
  deepEqual(
    (await client.of(node).get('node-0', '', ctx)).spec.taints?.map(({ effect }) => effect),
    ['NoSchedule'],
  )
})

test('zones are measured until their last node is gone', () => {
  const registry = new Metrics()
  const metrics = new NodeMetrics(registry)
  const zones = new ZoneDisruption()
  const dead = aNode({ Ready: 'Unknown' })
  const alive = aNode({ Ready: 'True' })
  const zone = zoneOf(dead)
  const shown = () =>
    registry
      .text()
      .split('\n')
      .filter((line) => /^node_collector_(zone|unhealthy)/.test(line))
      .map((line) => line.split(' ').at(-1))
  const update = (before: Node | undefined, after: Node | undefined) => updateZones(before, after, zones, metrics)
  update(undefined, dead)
  deepEqual(shown(), ['1', '0', '1'], 'unhealthy nodes, health, size')
  ok(registry.text().includes(`node_collector_zone_size{zone="${zone}"} 1\n`))
  update(undefined, alive)
  update(alive, alive)
  deepEqual(shown(), ['1', '50', '2'])
  update(dead, alive)
  deepEqual(shown(), ['0', '100', '2'])
  for (const each of [alive, alive]) update(each, undefined)
  deepEqual(shown(), [])
})

const zoneLabels: [labels: object, label: string][] = [
  [{}, ''],
  [{ 'topology.kubernetes.io/zone': 'a' }, ':\0:a'],
  [{ 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' }, 'r:\0:a'],
]
for (const [own, label] of zoneLabels)
  test(`the zone of a node with the labels ${JSON.stringify(own)} is ${JSON.stringify(label)} in metrics`, () =>
    equal(zoneOf(made(node, 'n', { metadata: { labels: own } })), label))
