import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { frameMs, FramePacer } from './frame-pacer.ts'

test('changes are drawn at most once per interval, and the last one is drawn', async () => {
  const clock = new VirtualClock()
  let drawn = 0
  const pacer = new FramePacer(clock, () => drawn++)
  for (let change = 0; change < 10; change++) pacer.request()
  await clock.advance(0)
  equal(drawn, 1, 'the first change is drawn at once')
  for (let ms = 0; ms < 1_000; ms++) {
    pacer.request()
    await clock.advance(1)
  }
  equal(drawn, 1 + 1_000 / frameMs)
  await clock.advance(10 * frameMs)
  const settled = drawn
  await clock.advance(1_000)
  equal(drawn, settled, 'nothing is drawn without a change')
  pacer.request()
  pacer.stop()
  await clock.advance(1_000)
  equal(drawn, settled, 'a stopped pacer draws nothing')
})
