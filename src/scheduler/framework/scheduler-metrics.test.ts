// Metrics have upstream's names and labels, and each pod is counted in one queue.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { Attempts } from '../cycle/attempt.ts'
import { eventLabel } from '../events/event-label.ts'
import { filterNodes } from '../cycle/filtering.ts'
import type { ClusterEvent } from './framework.ts'
import { QueueMetrics } from './queue-metrics.ts'
import { measuredCall, schedulerMetrics } from './scheduler-metrics.ts'
import { Nominator } from './nominator.ts'
import { nodeResourcesFit } from '../plugins/node-resources-fit.ts'
import { prioritySort } from '../plugins/priority-sort.ts'
import { profileOf } from './profile.ts'
import { SchedulingQueue, type QueuedPod } from '../queue/scheduling-queue.ts'
import { aNode, aPod, cycleOf, snapshotOf } from '../scheduler.harness.ts'
import { scoreNodes } from '../cycle/scoring.ts'
import { requeueOnEvent } from '../events/queueing-hints.ts'

const bound = (name: string) => ({ ...aPod(name), spec: { ...aPod(name).spec, nodeName: 'n' } })

const labels: readonly (readonly [ClusterEvent, string])[] = [
  [{ kind: 'node-added', node: aNode('n') }, 'NodeAdd'],
  [{ kind: 'node-changed', node: aNode('n', {}, { cpu: '8' }), before: aNode('n') }, 'NodeUpdateNodeAllocatable'],
  [{ kind: 'node-changed', node: aNode('n', {}, undefined, { zone: 'a' }), before: aNode('n') }, 'NodeUpdateNodeLabel'],
  [
    { kind: 'node-changed', node: aNode('n', { taints: [{ key: 'k', effect: 'NoSchedule' }] }), before: aNode('n') },
    'NodeUpdateNodeTaint',
  ],
  [{ kind: 'node-changed', node: aNode('n', { unschedulable: true }), before: aNode('n') }, 'NodeUpdate'],
  [{ kind: 'pod-placed', pod: bound('p') }, 'AssignedPodAdd'],
  [{ kind: 'pod-changed', pod: bound('p'), before: bound('p') }, 'AssignedPodUpdate'],
  [{ kind: 'pod-removed', pod: bound('p') }, 'AssignedPodDelete'],
  [{ kind: 'object-changed', resource: 'pods', now: aPod('p'), before: undefined }, 'PodAdd'],
  [{ kind: 'object-changed', resource: 'pods', now: undefined, before: aPod('p') }, 'PodDelete'],
]
for (const [event, label] of labels) test(`an event has the label ${label}`, () => equal(eventLabel(event), label))

const lineOf = (metrics: Metrics, start: string): string =>
  metrics
    .text()
    .split('\n')
    .find((line) => line.startsWith(start)) ?? ''

const unschedulable = (plugin: string) => `scheduler_unschedulable_pods{plugin="${plugin}",profile="default-scheduler"}`

test('every pending pod is counted in exactly one queue until it leaves the queue', async () => {
  const metrics = new Metrics()
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({
    clock,
    before: prioritySort.queueSort ?? (() => 0),
    gate: ({ spec }) => (spec.schedulingGates === undefined ? undefined : 'gated'),
    observer: new QueueMetrics(schedulerMetrics(metrics)),
  })
  const pending = () =>
    ['active', 'backoff', 'unschedulable', 'gated'].map((place) =>
      Number(lineOf(metrics, `scheduler_pending_pods{queue="${place}"}`).split(' ')[1]),
    )
  const { signal } = new AbortController()
  for (const name of ['a', 'b', 'c']) queue.add(aPod(name), noCause)
  queue.add(aPod('d', { schedulingGates: [{ name: 'g' }] }), noCause)
  deepEqual(pending(), [3, 0, 0, 1])
  const [first, second] = [await queue.take(signal), await queue.take(signal)] as [QueuedPod, QueuedPod]
  deepEqual(pending(), [1, 0, 0, 1])
  queue.addUnschedulable(first, new Set(['NodeName']))
  queue.retry(second)
  deepEqual(pending(), [1, 1, 1, 1])
  equal(lineOf(metrics, unschedulable('NodeName')), `${unschedulable('NodeName')} 1`)
  equal(lineOf(metrics, unschedulable('gated')), `${unschedulable('gated')} 1`)
  await clock.advance('5s')
  queue.requeue(
    () => true,
    () => true,
    noCause,
    'NodeAdd',
  )
  deepEqual(pending(), [3, 0, 0, 1])
  queue.remove('default/c')
  deepEqual(pending(), [2, 0, 0, 1])
  queue.close()
  deepEqual(pending(), [0, 0, 0, 0])
  for (const plugin of ['NodeName', 'gated'])
    equal(lineOf(metrics, unschedulable(plugin)), `${unschedulable(plugin)} 0`)
  for (const [event, place, count] of [
    ['UnscheduledPodAdd', 'active', 3],
    ['UnscheduledPodAdd', 'gated', 1],
    ['ScheduleAttemptFailure', 'unschedulable', 1],
    ['ScheduleAttemptFailure', 'backoff', 1],
    ['BackoffComplete', 'active', 1],
    ['NodeAdd', 'active', 1],
  ] as const)
    equal(
      lineOf(metrics, `scheduler_queue_incoming_pods_total{event="${event}",queue="${place}"}`),
      `scheduler_queue_incoming_pods_total{event="${event}",queue="${place}"} ${count}`,
    )
})

test('a pod that is bound after it was flushed is counted', () => {
  const metrics = new Metrics()
  const attempts = new Attempts([profileOf('s', [nodeResourcesFit])], schedulerMetrics(metrics), new VirtualClock())
  const waiting = { pod: aPod('p', { schedulerName: 's' }), cause: noCause, attempts: 2, rejectedBy: new Set<string>() }
  const name = 'scheduler_pod_scheduled_after_flush_total'
  for (const [wasFlushed, count] of [
    [false, 0],
    [true, 1],
  ] as const) {
    attempts.bound(attempts.begin({ ...waiting, eventsSeen: 0, firstAttemptMs: 0, wasFlushed }))
    equal(lineOf(metrics, name), `${name} ${count}`)
  }
})

test('an attempt is measured by extension point, and one in a hundred by plugin', () => {
  const metrics = new Metrics()
  const attempts = new Attempts([profileOf('s', [nodeResourcesFit])], schedulerMetrics(metrics), new VirtualClock())
  const pod = aPod('p', { schedulerName: 's' }, { cpu: '1' })
  const waiting = {
    pod,
    cause: noCause,
    attempts: 2,
    rejectedBy: new Set<string>(),
    eventsSeen: 0,
    firstAttemptMs: 0,
    wasFlushed: false,
  }
  const snapshot = snapshotOf([aNode('full', {}, { cpu: '500m', pods: '1' }), aNode('a'), aNode('b')])
  for (let index = 0; index < 100; index++) {
    const attempt = attempts.begin(waiting)
    const filtered = filterNodes(
      cycleOf(pod, snapshot),
      attempt.profile,
      new Nominator(),
      0,
      undefined,
      attempt.stopwatch,
    )
    if (filtered.kind === 'rejected') throw new Error('the pod itself is not rejected')
    scoreNodes(filtered.run.cycle, attempt.profile, filtered.fitting, undefined, attempt.stopwatch)
    attempt.stopwatch.decided()
    attempts.bound(attempt)
  }
  const point = (name: string) =>
    `scheduler_framework_extension_point_duration_seconds_count{extension_point="${name}",profile="s",status="Success"}`
  for (const name of ['PreFilter', 'Filter', 'PreScore', 'Score'])
    equal(lineOf(metrics, point(name)), `${point(name)} 100`)
  const asked = (name: string) =>
    `scheduler_plugin_evaluation_total{extension_point="${name}",plugin="NodeResourcesFit",profile="s"}`
  for (const name of ['PreFilter', 'Filter', 'PreScore', 'Score'])
    equal(lineOf(metrics, asked(name)), `${asked(name)} 100`)
  const plugin = (name: string, status: string) =>
    `scheduler_plugin_execution_duration_seconds_count{extension_point="${name}",plugin="NodeResourcesFit",status="${status}"}`
  for (const [name, status, calls] of [
    ['PreFilter', 'Success', 1],
    ['Filter', 'Success', 2],
    ['Filter', 'Unschedulable', 1],
    ['Score', 'Success', 2],
  ] as const)
    equal(lineOf(metrics, plugin(name, status)), `${plugin(name, status)} ${calls}`)
  const done = 'profile="s",result="scheduled"'
  match(metrics.text(), new RegExp(`scheduler_schedule_attempts_total{${done}} 100\n`))
  match(metrics.text(), new RegExp(`scheduler_scheduling_attempt_duration_seconds_count{${done}} 100\n`))
  match(metrics.text(), /scheduler_scheduling_algorithm_duration_seconds_count 100\n/)
  match(metrics.text(), /scheduler_pod_scheduling_sli_duration_seconds_count{attempts="3"} 100\n/)
  match(metrics.text(), /scheduler_pod_scheduling_attempts_bucket{le="2"} 0\n/)
  match(metrics.text(), /scheduler_pod_scheduling_attempts_bucket{le="4"} 100\n/)
})

test('asynchronous API calls are counted by result', async () => {
  const metrics = new Metrics()
  const all = schedulerMetrics(metrics)
  const clock = new VirtualClock()
  const ended = Promise.withResolvers<string>()
  const call = measuredCall('pod_binding', all, clock, () => ended.promise)
  equal(lineOf(metrics, pendingCalls), `${pendingCalls} 1`)
  ended.resolve('bound')
  equal(await call, 'bound')
  await rejects(measuredCall('pod_binding', all, clock, () => Promise.reject(new Error('no'))))
  equal(lineOf(metrics, pendingCalls), `${pendingCalls} 0`)
  for (const result of ['success', 'error'])
    match(metrics.text(), new RegExp(`async_api_call_execution_total{call_type="pod_binding",result="${result}"} 1\n`))
})

const pendingCalls = 'scheduler_pending_async_api_calls{call_type="pod_binding"}'

test('the queueing hints of the plugins that rejected a pod are called and measured', async () => {
  const metrics = new Metrics()
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before: () => 0 })
  const profiles = new Map([['default-scheduler', profileOf('default-scheduler', [nodeResourcesFit])]])
  queue.add(aPod('a'), noCause)
  const waiting = await queue.take(new AbortController().signal)
  if (waiting === undefined) throw new Error('there is no pod')
  queue.addUnschedulable(waiting, new Set(['NodeResourcesFit']))
  await clock.advance('5s')
  const deps = { queue, profiles, extenders: [], metrics: schedulerMetrics(metrics), clock }
  const before = aNode('n')
  const node = aNode('n', { unschedulable: true })
  requeueOnEvent(deps, { kind: 'node-changed', node, before }, noCause)
  equal(queue.queueOf('default/a'), 'unschedulable')
  requeueOnEvent(deps, { kind: 'node-added', node }, noCause)
  equal(queue.queueOf('default/a'), 'active')
  const hint = (event: string, answer: string) =>
    `scheduler_queueing_hint_execution_duration_seconds_count{event="${event}",hint="${answer}",plugin="NodeResourcesFit"}`
  equal(lineOf(metrics, hint('NodeUpdate', 'QueueSkip')), `${hint('NodeUpdate', 'QueueSkip')} 1`)
  equal(lineOf(metrics, hint('NodeAdd', 'Queue')), `${hint('NodeAdd', 'Queue')} 1`)
  match(metrics.text(), /scheduler_event_handling_duration_seconds_count{event="NodeAdd"} 1\n/)
})
