import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { DeferredTask } from './deferred-task.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

test('a task that is cancelled in the same turn does not run', async () => {
  const clock = new VirtualClock()
  let done = 0
  const work = new DeferredTask(clock, () => Promise.resolve(++done))
  await Promise.resolve()
  equal(await work.end(), undefined)
  await clock.settle()
  equal(done, 0)
})

test('a task runs one turn later, and its result is available to the caller that ends it', async () => {
  const clock = new VirtualClock()
  const work = new DeferredTask(clock, () => Promise.resolve(7))
  await clock.settle()
  deepEqual(await work.end(), { result: 7 })
})

test('a failure is reported only to the caller that ends the task', async () => {
  const clock = new VirtualClock()
  const work = new DeferredTask(clock, () => Promise.reject(new Error('no')))
  await clock.settle()
  await rejects(work.end(), /^Error: no$/)
})
