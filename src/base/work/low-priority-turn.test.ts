import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { lowPriorityTurn } from './low-priority-turn.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

test('few get their turn at a time, in the order in which they asked, and all do in the end', async () => {
  const clock = new VirtualClock()
  const done: number[] = []
  const all = Array.from({ length: 100 }, (_, index) => index)
  const waiting = Promise.all(all.map((index) => lowPriorityTurn(clock).then(() => done.push(index))))
  await eventLoopTurn()
  equal(done.length > 0 && done.length < 20, true, `${done.length} after one turn`)
  await clock.settle()
  deepEqual(done, all, 'a clock that settles waits for them')
  await waiting
  await lowPriorityTurn(clock)
})

test('where many wait more go at a time, yet not many', async () => {
  const clock = new VirtualClock()
  const done: number[] = []
  const all = Promise.all(
    Array.from({ length: 10_000 }, (_, index) => lowPriorityTurn(clock).then(() => done.push(index))),
  )
  const given: number[] = []
  for (let before = 0; done.length < 10_000; before = done.length) {
    await eventLoopTurn()
    given.push(done.length - before)
  }
  await all
  deepEqual([Math.max(...given), given.at(-1)], [16, 2])
})

test('those who go by another clock do not wait for these', async () => {
  const [clock, other] = [new VirtualClock(), new VirtualClock()]
  const many = Promise.all(Array.from({ length: 1_000 }, () => lowPriorityTurn(clock)))
  let isDone = false
  void lowPriorityTurn(other).then(() => (isDone = true))
  await eventLoopTurn()
  await eventLoopTurn()
  equal(isDone, true)
  await many
})
