import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { stepClock } from './step-clock.ts'

test('a step is a duration', async () => {
  const clock = new VirtualClock(1_000)
  equal(await stepClock(10_000, clock, { last: 0 }), 11_000)
})

test('the next event is the first one after now, however much time passes before it', async () => {
  const clock = new VirtualClock(1_000)
  const flow = { last: 7 }
  clock.after(2_000, () => {})
  clock.after(3_000, () => flow.last++)
  clock.after(4_000, () => flow.last++)
  equal(await stepClock('next', clock, flow), 4_000)
  equal(await stepClock('next', clock, flow), 5_000)
})

test('a request of the page that is answered now is not the next event', async () => {
  const clock = new VirtualClock(1_000)
  const flow = { last: 7 }
  clock.after(0, () => flow.last++)
  clock.after(3_000, () => {})
  clock.after(5_000, () => flow.last++)
  const stepped = stepClock('next', clock, flow)
  flow.last++
  equal(await stepped, 6_000)
})
