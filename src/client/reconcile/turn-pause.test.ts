import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { realClock, type Clock } from '../../base/time/clock.ts'
import { pauseIfDue } from './turn-pause.ts'

/** A clock whose time is set by the test. */
function setClock(): { clock: Clock; pass(ms: number): void } {
  let nowMs = 0
  const clock = { ...realClock, monotonicMs: () => nowMs, outside: <T>(work: Promise<T>) => work }
  return { clock, pass: (ms) => void (nowMs += ms) }
}

test('steps of one turn pause when their time is used up, and continue one by one', async () => {
  const { clock, pass } = setClock()
  equal(pauseIfDue(clock), undefined)
  pass(1)
  equal(pauseIfDue(clock), undefined, 'there is time left')
  pass(100)
  const resumed: string[] = []
  const worker = async (name: string) => {
    const pause = pauseIfDue(clock)
    ok(pause)
    await pause
    resumed.push(name)
  }
  const workers = [worker('a'), worker('b')]
  await eventLoopTurn()
  deepEqual(resumed, ['a'], 'one in each turn')
  await Promise.all(workers)
  deepEqual(resumed, ['a', 'b'])
  equal(pauseIfDue(clock), undefined, 'a new turn has a new slice')
})
