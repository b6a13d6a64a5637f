import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { RequestDeadlines } from './request-deadlines.ts'

test('a request beyond its deadline times out once, and a removed one does not', async () => {
  const clock = new VirtualClock()
  const deadlines = new RequestDeadlines(clock)
  const expired: string[] = []
  const begin = (name: string, ms: number, also = () => {}) =>
    deadlines.begin(ms, () => {
      expired.push(name)
      also()
    })
  const leaveFirst = begin('first', 1_000)
  const leaveSecond = begin('second', 1_000, () => {
    leaveSecond()
    leaveThird()
  })
  const leaveThird = begin('third', 1_000)
  const leaveLast = begin('last', 5_000)
  leaveFirst()
  leaveFirst()
  equal(deadlines.size, 3)
  await clock.advance('3s')
  deepEqual(expired, ['second'])
  equal(deadlines.size, 1)
  leaveLast()
  await clock.advance('10s')
  deepEqual(expired, ['second'])
  deadlines.stop()
})
