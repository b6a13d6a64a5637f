import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { lowPriorityTurn } from './low-priority-turn.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

test('few waiters proceed at a time, in order, and all proceed eventually', async () => {
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

test('more waiters proceed at a time when many wait, up to a limit', async () => {
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

test('waiters on different clocks do not wait for each other', async () => {
  const clock = new VirtualClock()
  const other = new VirtualClock()
  const many = Promise.all(Array.from({ length: 1_000 }, () => lowPriorityTurn(clock)))
  let isDone = false
  void lowPriorityTurn(other).then(() => (isDone = true))
  await eventLoopTurn()
  await eventLoopTurn()
  equal(isDone, true)
  await many
})
