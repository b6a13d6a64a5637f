import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TimeSlicedWork } from './time-sliced-work.ts'
import { eventLoopTurn } from '../async/event-loop-turn.ts'
import { realClock } from '../time/clock.ts'

test('works run in order, in time slices, including those added meanwhile', async () => {
  let nowMs = 0
  const turns = new TimeSlicedWork({ ...realClock, monotonicMs: () => nowMs })
  const done: number[] = []
  for (let work = 0; work < 20; work++)
    turns.schedule(() => {
      done.push(work)
      nowMs += 0.1
      if (work === 3) turns.schedule(() => done.push(100))
    })
  equal(done.length, 0)
  await eventLoopTurn()
  equal(done.length, 8, 'the time of a slice is looked at now and then')
  await eventLoopTurn()
  equal(done.length, 16)
  await eventLoopTurn()
  deepEqual(done.slice(16), [16, 17, 18, 19, 100])
  turns.schedule(() => done.push(200))
  await eventLoopTurn()
  equal(done.at(-1), 200, 'it starts again')
})
