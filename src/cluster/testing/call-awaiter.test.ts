import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { CallAwaiter } from './call-awaiter.ts'
import { Faults } from './faults.ts'

const { signal } = new AbortController()

function awaiter(isFlowing = false) {
  const clock = new VirtualClock()
  const faults = new Faults()
  return { clock, faults, calls: new CallAwaiter({ clock, faults, isFlowing }) }
}

test('time is advanced during a request only while the store is slow', async () => {
  const { clock, faults, calls } = awaiter()
  const begunMs = clock.nowMs()
  equal(await calls.request(Promise.resolve('fast'), 'a get'), 'fast')
  equal(clock.nowMs(), begunMs)
  faults.slowStore(200)
  const slow = clock.sleep(200, signal).then(() => 'slow')
  equal(await calls.request(slow, 'a write'), 'slow')
  equal(clock.nowMs(), begunMs + 200)
})

test('a request that does not end is rejected with what to do', async () => {
  const { clock, faults, calls } = awaiter()
  faults.slowStore(7_200_000)
  await rejects(
    calls.request(clock.sleep(7_200_000, signal), 'create configmaps a'),
    /create configmaps a did not end within 1h of the cluster's time: faults.slowStore\(7200000\) .* faults.heal\(\) ends that/,
  )
})

test('an error of the work is passed on', async () => {
  const { clock, calls } = awaiter()
  const failing = clock.sleep(5, signal).then(() => Promise.reject(new Error('no')))
  await rejects(
    calls.untilDone(failing, 'work', () => 'it waits'),
    /^Error: no$/,
  )
})

test('time that flows is not advanced', async () => {
  const { clock, faults, calls } = awaiter(true)
  faults.slowStore(200)
  const begunMs = clock.nowMs()
  equal(await calls.request(Promise.resolve(1), 'a write'), 1)
  equal(clock.nowMs(), begunMs)
})
