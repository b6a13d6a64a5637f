import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { SharedTurns } from './shared-turns.ts'
import { turn } from './turn.ts'
import { realClock } from './clock.ts'

test('works are done in their order, in slices of time, also those that come meanwhile', async () => {
  let nowMs = 0
  const turns = new SharedTurns({ ...realClock, monotonicMs: () => nowMs })
  const done: number[] = []
  for (let work = 0; work < 20; work++)
    turns.plan(() => {
      done.push(work)
      nowMs += 0.1
      if (work === 3) turns.plan(() => done.push(100))
    })
  equal(done.length, 0)
  await turn()
  equal(done.length, 8, 'the time of a slice is looked at now and then')
  await turn()
  equal(done.length, 16)
  await turn()
  deepEqual(done.slice(16), [16, 17, 18, 19, 100])
  turns.plan(() => done.push(200))
  await turn()
  equal(done.at(-1), 200, 'it begins anew')
})
