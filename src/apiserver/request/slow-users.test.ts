import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { slowForMs, slowStepMs, slowStepsMin, SlowUsers } from './slow-users.ts'

test('a user with several slow steps is slow for a while; other users are not', async () => {
  const clock = new VirtualClock()
  const users = new SlowUsers(clock)
  const slowStep = () => users.stepDone('jane', slowStepMs)
  for (let steps = 1; steps < slowStepsMin; steps++) slowStep()
  users.stepDone('jane', slowStepMs - 1)
  equal(users.has('jane'), false)
  slowStep()
  deepEqual([users.has('jane'), users.has('john')], [true, false])
  await clock.advance(slowForMs)
  equal(users.has('jane'), false)
  slowStep()
  equal(users.has('jane'), false, 'what was long ago does not count')
})
