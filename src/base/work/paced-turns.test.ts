import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { PacedTurns } from './paced-turns.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

/** A clock whose time and timers the test controls. */
class ManualClock extends VirtualClock {
  ms = 0
  readonly rests: number[] = []
  /** What other work takes in each turn. */
  otherMs = 0
  override monotonicMs = (): number => this.ms
  override after(ms: number, callback: () => void) {
    this.rests.push(ms)
    this.ms += ms
    setImmediate(() => (this.ms += this.otherMs))
    callback()
    return { cancel: () => {} }
  }
}

test('one step runs per turn, in order, each followed by a rest of twice its length', async () => {
  const clock = new ManualClock()
  const turns = new PacedTurns(clock)
  const order: string[] = []
  const step = async (name: string, ms: number) => {
    await turns.take()
    order.push(`${name} after ${clock.rests.length} rests`)
    clock.ms += ms
  }
  await Promise.all([step('a', 30), step('b', 0), step('c', 5_000), step('d', 10)])
  await turns.take()
  deepEqual(order, ['a after 0 rests', 'b after 1 rests', 'c after 1 rests', 'd after 2 rests'])
  deepEqual(clock.rests, [60, 500, 20])
})

test('a rest is longer while the event loop is busy', async () => {
  const clock = new ManualClock()
  const turns = new PacedTurns(clock)
  clock.otherMs = 10
  await turns.take()
  clock.ms += 30
  await turns.take()
  // Nine times as long as the step.
  deepEqual(clock.rests, [60, 60, 60, 60])
})
