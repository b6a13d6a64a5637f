// The scheduling queue: order, backoff, gates and requeueing.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { prioritySort } from '../plugins/priority-sort.ts'
import { PodHeap } from './pod-heap.ts'
import { SchedulingQueue, type QueuedPod } from './scheduling-queue.ts'
import { aPod } from '../scheduler.harness.ts'

const { signal } = new AbortController()
const before = prioritySort.queueSort ?? (() => 0)
const waiting = (name: string, attempts = 0): QueuedPod => ({
  pod: aPod(name),
  cause: noCause,
  attempts,
  rejectedBy: new Set(),
  eventsSeen: 0,
  firstAttemptMs: undefined,
  wasFlushed: false,
})

async function nameOf(taken: Promise<QueuedPod | undefined>): Promise<string | undefined> {
  return (await taken)?.pod.metadata.name
}

test('pods are ordered by priority, then by arrival', async () => {
  const queue = new SchedulingQueue({ clock: new VirtualClock(), before })
  for (const [name, priority] of [
    ['a', 0],
    ['b', 0],
    ['c', 10],
  ] as const)
    queue.add(aPod(name, { priority }), noCause)
  const order = [await nameOf(queue.take(signal)), await nameOf(queue.take(signal)), await nameOf(queue.take(signal))]
  deepEqual(order, ['c', 'a', 'b'])
})

test('the backoff after failures starts at 1 s and doubles to 10 s', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before })
  for (const [attempts, ms] of [
    [0, 1000],
    [1, 2000],
    [2, 4000],
    [3, 8000],
    [4, 10_000],
    [9, 10_000],
  ] as const) {
    queue.retry(waiting('a', attempts))
    const next = queue.take(signal)
    await clock.advance(ms - 1)
    equal(queue.queueOf('default/a'), 'backoff')
    await clock.advance(1)
    equal((await next)?.attempts, attempts + 1)
  }
})

test('an unschedulable pod for which an action failed waits for its backoff, although no other pod is active', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before })
  queue.addUnschedulable(waiting('a', 1), new Set(['NodeResourcesFit']))
  queue.backOff('default/a')
  const next = queue.take(signal)
  await clock.advance(1999)
  equal(queue.queueOf('default/a'), 'backoff')
  await clock.advance(1)
  equal(await nameOf(next), 'a')
  queue.add(aPod('b'), noCause)
  queue.backOff('default/b')
  equal(queue.queueOf('default/b'), 'active')
  queue.backOff('default/unknown')
  equal(queue.size, 1)
})

test('unschedulable pods wait for an event that may make them schedulable, or for five minutes', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before })
  queue.addUnschedulable(waiting('b'), new Set(['NodeResourcesFit']))
  const asked: string[] = []
  queue.requeue(
    (rejectedBy) => rejectedBy.has('TaintToleration'),
    ({ pod }) => asked.push(pod.metadata.name) > 0,
    noCause,
  )
  deepEqual(asked, [], 'no pod is asked when no plugin that rejected it hopes for the event')
  await clock.advance('1m')
  equal(queue.queueOf('default/b'), 'unschedulable')
  queue.requeue(
    () => true,
    () => true,
    noCause,
  )
  equal(queue.queueOf('default/b'), 'active', 'its back-off has passed')
  const taken = await queue.take(signal)
  deepEqual([taken?.pod.metadata.name, taken?.wasFlushed], ['b', false])

  queue.addUnschedulable({ ...waiting('d'), eventsSeen: 2 }, new Set(['NodeResourcesFit']))
  const patient = queue.take(signal)
  await clock.advance('5m')
  const flushed = await patient
  equal(flushed?.pod.metadata.name, 'd', 'after five minutes it is tried all the same')
  equal(flushed?.wasFlushed, true)
  queue.retry(flushed)
  await clock.advance('1m')
  const again = queue.next()
  equal(again?.wasFlushed, true, 'an error does not end what the flush began')
  queue.addUnschedulable({ ...waiting('d'), wasFlushed: true, eventsSeen: 2 }, new Set(['NodeResourcesFit']))
  queue.activate('default/d', noCause)
  equal(queue.next()?.wasFlushed, false)
})

test('the backoff of a pod is skipped when no other pod is active', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before })
  queue.addUnschedulable(waiting('b', 3), new Set(['NodeResourcesFit']))
  queue.add(aPod('other'), noCause)
  queue.requeue(
    () => true,
    () => true,
    noCause,
  )
  equal(queue.queueOf('default/b'), 'backoff')
  equal(await nameOf(queue.take(signal)), 'other')
  equal(await nameOf(queue.take(signal)), 'b', 'no other pod is in the queue')
})

test('an event that arrives while the pod is being scheduled is taken into account', () => {
  const queue = new SchedulingQueue({ clock: new VirtualClock(), before })
  queue.requeue(
    () => true,
    () => true,
    noCause,
  )
  queue.addUnschedulable(waiting('late'), new Set(['NodeResourcesFit']))
  equal(queue.queueOf('default/late'), 'backoff')
})

test('a gated pod stays out of the queue until an update passes the gates', async () => {
  const queue = new SchedulingQueue({
    clock: new VirtualClock(),
    before,
    gate: ({ spec }: Pod) => (spec.schedulingGates === undefined ? undefined : 'gated'),
  })
  queue.add(aPod('g', { schedulingGates: [{ name: 'x' }] }), noCause)
  deepEqual(queue.counts(), { active: 0, backoff: 0, unschedulable: 0, gated: 1 })
  const next = queue.take(signal)
  queue.add(aPod('g'), noCause, true)
  equal(await nameOf(next), 'g')
})

test('closing ends the wait and leaves no timer', async () => {
  const clock = new VirtualClock()
  const queue = new SchedulingQueue({ clock, before })
  queue.add(aPod('e'), noCause)
  queue.remove('default/e')
  queue.addUnschedulable(waiting('f'), new Set())
  const closed = queue.take(signal)
  queue.close()
  equal(await closed, undefined)
  equal(clock.pendingTimers, 0)
})

test('the heap returns the remaining items in order', () => {
  const heap = new PodHeap<{ at: number }>((a, b) => a.at - b.at)
  const items = Array.from({ length: 500 }, (_, index) => ({ at: (index * 7919) % 500 }))
  for (const item of items) heap.push(item)
  for (const item of items) if (item.at % 3 !== 0) heap.remove(item)
  const order: number[] = []
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) order.push(next.at)
  deepEqual(
    order,
    [...Array(500).keys()].filter((at) => at % 3 === 0),
  )
})
