import { equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs, realClock, rfc3339, rfc3339Micro } from './clock.ts'

test('the real clock calls only the callbacks that are due', async () => {
  const controller = new AbortController()
  let isOver = false
  const long = realClock.sleep(3_600_000, controller.signal).then(() => (isOver = true))
  await realClock.sleep(1, new AbortController().signal)
  equal(isOver, false)
  controller.abort(new Error('enough'))
  await rejects(long, /enough/)
})

test('a sleep that is aborted rejects with the reason', async () => {
  const controller = new AbortController()
  const sleeping = realClock.sleep(60_000, controller.signal)
  controller.abort(new Error('stopping'))
  await rejects(sleeping, /stopping/)
  await rejects(realClock.sleep(1, controller.signal), /stopping/)
})

test('times have the format of the API', () => {
  equal(rfc3339(1_700_000_000_999), '2023-11-14T22:13:20Z')
  equal(rfc3339(1_700_000_001_000), '2023-11-14T22:13:21Z')
  equal(rfc3339Micro(1_700_000_000_123.456), '2023-11-14T22:13:20.123456Z')
})

test('durations', () => {
  const table: [string | number, number][] = [
    [5, 5],
    ['250ms', 250],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5d', 129_600_000],
  ]
  for (const [text, ms] of table) equal(durationMs(text), ms)
  throws(() => durationMs('soon'), /duration "soon"/)
})
