import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../random/random.ts'
import { TimerHeap } from './timer-heap.ts'

const drain = (heap: TimerHeap, untilMs = Infinity): number[] => {
  const due: number[] = []
  for (let timer = heap.takeDue(untilMs); timer !== undefined; timer = heap.takeDue(untilMs)) due.push(timer.dueMs)
  return due
}

test('timers are ordered by time, then by creation', () => {
  const heap = new TimerHeap()
  const order: string[] = []
  for (const [ms, name] of [
    [5, 'b'],
    [1, 'a'],
    [5, 'c'],
    [9, 'd'],
  ] as const)
    heap.add(ms, () => order.push(name))
  for (let timer = heap.takeDue(5); timer !== undefined; timer = heap.takeDue(5)) timer.callback()
  deepEqual(order, ['a', 'b', 'c'])
  equal(heap.size, 1)
})

test('a cancelled timer is never returned, however many there are', () => {
  const random = seededRandom(7)
  const heap = new TimerHeap()
  const kept: number[] = []
  for (let i = 0; i < 2000; i++) {
    const ms = random.below(10_000)
    const timer = heap.add(ms, () => {})
    if (random.below(4) > 0) timer.cancel()
    else kept.push(ms)
  }
  equal(heap.size, kept.length)
  deepEqual(
    drain(heap),
    kept.toSorted((a, b) => a - b),
  )
  equal(heap.size, 0)
})

test('cancelling after the timer ran has no effect', () => {
  const heap = new TimerHeap()
  const timer = heap.add(1, () => {})
  heap.add(2, () => {})
  heap.takeDue(1)
  timer.cancel()
  equal(heap.size, 1)
})
