import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { every, realClock } from './clock.ts'
import { seededRandom } from '../random/random.ts'
import { TaskGroup } from '../async/task-group.ts'
import { VirtualClock, virtualEpochMs } from './virtual-clock.ts'

const { signal } = new AbortController()

test('timers run in order of time, then of creation, at their own time', async () => {
  const clock = new VirtualClock(0)
  const trace: string[] = []
  const note = (name: string) => () => trace.push(`${name}@${clock.nowMs()}`)
  clock.after(20, note('c'))
  clock.after(10, note('a'))
  clock.after(20, note('d'))
  clock.after(10, note('b')).cancel()
  await clock.advance(19)
  deepEqual(trace, ['a@10'])
  equal(clock.nowMs(), 19)
  await clock.advance(1)
  deepEqual(trace, ['a@10', 'c@20', 'd@20'])
})

test('a chain of promises between two timers completes before the later one runs', async () => {
  const clock = new VirtualClock()
  const trace: string[] = []
  clock.after(1, () => {
    void (async () => {
      for (let i = 0; i < 500; i++) await Promise.resolve()
      trace.push('chain')
    })()
  })
  clock.after(1, () => trace.push('second'))
  await clock.advance('1s')
  deepEqual(trace, ['chain', 'second'])
})

test('time does not advance while an external operation is pending', async () => {
  const clock = new VirtualClock(0)
  let finishedAtMs = -1
  clock.after(5, () => {
    void clock.outside(realClock.sleep(5, signal)).then(() => (finishedAtMs = clock.nowMs()))
  })
  await clock.advance('1h')
  equal(finishedAtMs, 5)
})

test('runUntilIdle and runUntil report whether they succeeded', async () => {
  const clock = new VirtualClock()
  let count = 0
  const tick = () => void (++count < 5 && clock.after(1000, tick))
  clock.after(1000, tick)
  equal(await clock.runUntil(() => count === 3), true)
  equal(clock.nowMs(), virtualEpochMs + 3000)
  equal(await clock.runUntilIdle(), true)
  equal(count, 5)
  equal(await clock.runUntil(() => count === 6, '1m'), false)
})

test('an interval ends when it is cancelled, also by its own callback', async () => {
  const clock = new VirtualClock()
  let count = 0
  const timer = every(clock, 1000, () => void (++count === 3 && timer.cancel()))
  await clock.advance('1m')
  equal(count, 3)
  equal(clock.pendingTimers, 0)
})

test('timers that reschedule each other without time passing are detected', async () => {
  const clock = new VirtualClock()
  const again = () => void clock.after(0, again)
  again()
  await rejects(clock.advance(1), /without time moving on/)
})

/** 50 tasks that sleep, synchronise and cancel for an hour; returns the trace as text. */
async function tracedHour(seed: number): Promise<string[]> {
  const clock = new VirtualClock()
  const trace: string[] = []
  await using tasks = new TaskGroup()
  for (let task = 0; task < 50; task++) {
    const random = seededRandom(seed * 1000 + task)
    tasks.start(`task ${task}`, async (stop) => {
      while (!stop.aborted) {
        await clock.sleep(1000 + random.below(4000), stop)
        for (let turns = random.below(5); turns > 0; turns--) await Promise.resolve()
        trace.push(`${clock.nowMs()} ${task}`)
      }
    })
  }
  await clock.advance('1h')
  return trace
}

test('50 looping tasks over an hour have the same trace for the same seed', async () => {
  const first = await tracedHour(1)
  ok(first.length > 50_000, `${first.length} steps`)
  deepEqual(await tracedHour(1), first)
  ok((await tracedHour(2)).join() !== first.join())
})

test('a clock follows another in its own steps until it is detached', async () => {
  const other = new VirtualClock(0)
  const clock = new VirtualClock(0)
  const trace: number[] = []
  clock.after(7, () => trace.push(clock.nowMs()))
  const following = clock.follow(other, 5)
  for (let step = 0; step < 20; step++) await other.advance(1)
  deepEqual(trace, [7])
  ok(clock.nowMs() >= 10 && clock.nowMs() <= 20)
  await clock.advance('1h')
  following.cancel()
  const nowMs = clock.nowMs()
  ok(nowMs >= 3_600_010)
  for (let step = 0; step < 20; step++) await other.advance(1)
  equal(clock.nowMs(), nowMs)
})

test('changes of time are serialized, and the time can be set back', async () => {
  const clock = new VirtualClock(0)
  await Promise.all([clock.advance(10), clock.advance(20)])
  equal(clock.nowMs(), 30)
  clock.turnTo(5)
  equal(clock.nowMs(), 5)
})
