import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { leisure } from './leisure.ts'
import { turn } from './turn.ts'
import { VirtualClock } from './virtual-clock.ts'

test('few get their turn at a time, in the order in which they asked, and all do in the end', async () => {
  const clock = new VirtualClock()
  const done: number[] = []
  const all = Array.from({ length: 100 }, (_, index) => index)
  const waiting = Promise.all(all.map((index) => leisure(clock).then(() => done.push(index))))
  await turn()
  equal(done.length > 0 && done.length < 20, true, `${done.length} after one turn`)
  await clock.settle()
  deepEqual(done, all, 'a clock that settles waits for them')
  await waiting
  await leisure(clock)
})

test('those who go by another clock do not wait for these', async () => {
  const [clock, other] = [new VirtualClock(), new VirtualClock()]
  const many = Promise.all(Array.from({ length: 1_000 }, () => leisure(clock)))
  let isDone = false
  void leisure(other).then(() => (isDone = true))
  await turn()
  await turn()
  equal(isDone, true)
  await many
})
