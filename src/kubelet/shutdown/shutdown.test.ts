// Graceful node shutdown: order, grace periods, statuses, and cancellation.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { serveUntilTerminated, type SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { ManualShutdown } from '../../machine/shutdown/manual-shutdown.ts'
import { soloNode } from '../solo.harness.ts'
import { shutdownGroups, shutdownPeriods } from './shutdown-order.ts'

const none = { graceMs: 0, criticalMs: 0, byPriority: [] }

const periods: [what: string, configured: Partial<typeof none>, wanted: string][] = [
  ['no flags', {}, ''],
  ['one period for all', { graceMs: 30_000 }, '0:30 2000000000:0'],
  ['a part is reserved for critical pods', { graceMs: 30_000, criticalMs: 10_000 }, '0:20 2000000000:10'],
]
for (const [what, messages, wanted] of periods)
  test(`periods: ${what}`, () => {
    const found = shutdownPeriods({ ...none, ...messages })
    equal(found.map(({ priority, seconds }) => `${priority}:${seconds}`).join(' '), wanted)
  })

test('periods: invalid combinations are rejected', () => {
  throws(() => shutdownPeriods({ ...none, graceMs: 500 }), /at least 1 s/)
  throws(() => shutdownPeriods({ ...none, graceMs: 5_000, criticalMs: 6_000 }), /must not exceed the total/)
  const byPriority = [{ priority: 0, seconds: 1 }]
  throws(() => shutdownPeriods({ graceMs: 5_000, criticalMs: 0, byPriority }), /cannot be combined/)
})

test('groups: each pod belongs to the highest period it reaches, and empty groups are left out', () => {
  const aPod = (name: string, priority?: number) =>
    ({ metadata: { name }, spec: priority === undefined ? {} : { priority } }) as Pod
  const pods = [aPod('low', -5), aPod('none'), aPod('high', 150), aPod('critical', 2_000_001_000)]
  const byPriority = [1_000, 0, 100, 200].map((priority) => ({ priority, seconds: 1 }))
  const groups = shutdownGroups(pods, shutdownPeriods({ ...none, byPriority }))
  deepEqual(
    groups.map((group) => [group.priority, group.pods.map(({ metadata }) => metadata.name)]),
    [
      [0, ['low', 'none']],
      [100, ['high']],
      [1_000, ['critical']],
    ],
  )
})

const ctx = context(new AbortController().signal)

/** A program that exits this long after SIGTERM. */
const endsAfter =
  (ms: number): SimulatedProgram =>
  async (process) => {
    await serveUntilTerminated(process)
    await process.clock.sleep(ms, ctx.signal)
    return 0
  }

async function start(kubeletFlags: object) {
  const images = { quick: endsAfter(1_000), stubborn: endsAfter(3_600_000) }
  const cluster = await startCluster({ kubeletFlags, simulation: { images } })
  const pods = cluster.client.of(pod)
  const make = (name: string, image: string, spec: object = {}, namespace = 'default') =>
    pods.create({ metadata: { name }, spec: { containers: [{ name: 'c', image }], ...spec } }, namespace, ctx)
  const ended = async (name: string, namespace = 'default') => {
    const { status } = await pods.get(name, namespace, ctx)
    const { terminated } = status.containerStatuses?.[0]?.state ?? {}
    return { ...status, finishedMs: Date.parse(terminated?.finishedAt ?? ''), exitCode: terminated?.exitCode }
  }
  return { cluster, make, ended, [Symbol.asyncDispose]: () => cluster.stop() }
}

const periodFlags = { 'shutdown-grace-period': '30s', 'shutdown-grace-period-critical-pods': '10s' }

test('a shutdown terminates regular pods first and critical ones afterwards, each within its grace period, with a reason', async () => {
  await using running = await start(periodFlags)
  const { cluster, make, ended } = running
  await make('quick', 'quick')
  await make('stubborn', 'stubborn', { terminationGracePeriodSeconds: 600 })
  await make('critical', 'quick', { priorityClassName: 'system-node-critical' }, 'kube-system')
  await cluster.clock.advance('10s')
  const beganMs = cluster.clock.nowMs()
  await cluster.shutDown('node-0')
  const quick = await ended('quick')
  const stubborn = await ended('stubborn')
  const critical = await ended('critical', 'kube-system')
  const message = 'Pod was terminated in response to imminent node shutdown.'
  for (const { phase, reason, message: messages, conditions } of [quick, stubborn, critical]) {
    deepEqual([phase, reason, messages], ['Failed', 'Terminated', message])
    const target = conditions?.find(({ type }) => type === 'DisruptionTarget')
    deepEqual([target?.status, target?.reason, target?.message], ['True', 'TerminationByKubelet', message])
  }
  const after = ({ finishedMs }: { finishedMs: number }) => Math.round((finishedMs - beganMs) / 1000)
  deepEqual([after(quick), after(stubborn), after(critical)], [1, 20, 21])
  deepEqual([quick.exitCode, stubborn.exitCode, critical.exitCode], [0, 137, 0])
  equal(cluster.clock.nowMs() - beganMs < 30_000, true)
})

test('during a shutdown a node is not ready and rejects pods; after a cancellation it admits them again', async () => {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const shutdown = new ManualShutdown()
  const settings = { shutdownPeriods: shutdownPeriods({ ...none, graceMs: 30_000 }) }
  const images = { stuck: () => new Promise<number>(() => {}) }
  const { start: startNode } = soloNode(cluster, { shutdown }, settings, { images })
  await using _tasks = startNode()
  const make = (name: string) =>
    client
      .of(pod)
      .create(
        { metadata: { name }, spec: { containers: [{ name: 'c', image: 'stuck' }], nodeName: 'solo' } },
        'default',
        ctx,
      )
  const statusOf = async (name: string) => (await client.of(pod).get(name, 'default', ctx)).status
  const ready = async () => {
    const { status } = await client.of(node).get('solo', '', ctx)
    const { status: is, reason, message } = status.conditions?.find(({ type }) => type === 'Ready') ?? {}
    return [is, reason, message]
  }
  const messages = async () => {
    const { items } = await client.of(event).list({ fieldSelector: 'reason=NodeShutdown' }, ctx)
    return items.filter((one) => one.involvedObject.kind === 'Node').map(({ message }) => message)
  }
  await clock.advance('1s')
  await make('early')
  await clock.advance('5s')
  const waited = shutdown.announce()
  await clock.advance('2s')
  await make('late')
  await clock.advance('2s')
  deepEqual(await ready(), ['False', 'KubeletNotReady', 'node is shutting down'])
  const { phase, reason, message } = await statusOf('late')
  deepEqual([phase, reason], ['Failed', 'NodeShutdown'])
  equal(message, 'Pod was rejected: Pod was rejected as the node is shutting down.')
  deepEqual(await messages(), ['Shutdown manager detected shutdown event'])
  await clock.advance('30s')
  await waited
  equal((await statusOf('early')).reason, 'Terminated')
  const resumed = shutdown.cancel()
  await clock.advance('1s')
  await resumed
  deepEqual(await ready(), ['True', 'KubeletReady', 'kubelet is posting ready status'])
  await make('later')
  await clock.advance('5s')
  equal((await statusOf('later')).phase, 'Running')
  equal((await messages()).length, 2)
  await cluster.stop()
})

test('without grace periods a shutdown is not delayed', async () => {
  await using running = await start({})
  await running.make('stubborn', 'stubborn')
  await running.cluster.clock.advance('10s')
  const beganMs = running.cluster.clock.nowMs()
  await running.cluster.shutDown('node-0')
  equal(running.cluster.clock.nowMs() - beganMs < 1_000, true)
  equal((await running.ended('stubborn')).phase, 'Running', 'the kubelet has stopped and cannot report')
})
