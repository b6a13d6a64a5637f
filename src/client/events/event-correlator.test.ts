// What a correlator remembers of objects whose events have ended.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { correlatedMsMax, correlatedObjectsMax, EventCorrelator } from './event-correlator.ts'

const minuteMs = 60_000

test('objects without events for long are forgotten when others have events', () => {
  const correlator = new EventCorrelator()
  const hours = 10
  for (let minute = 0; minute < hours * 60; minute++)
    correlator.correlate(`uid-${minute}`, 'Normal Created', 'made', minute * minuteMs)
  equal(correlator.size, correlatedMsMax / minuteMs)
})

test('an object whose events continue is remembered', () => {
  const correlator = new EventCorrelator()
  const recordAt = (nowMs: number) => correlator.correlate('uid', 'Warning Failed', 'no', nowMs).record
  const first = recordAt(0)
  const step = correlatedMsMax - minuteMs
  for (const times of [1, 2, 3]) equal(recordAt(times * step), first)
  notEqual(recordAt(3 * step + correlatedMsMax), first)
})

test('series are forgotten in the order of their last events', () => {
  const keptMs = 6 * minuteMs
  const correlator = new EventCorrelator(keptMs)
  const seriesAt = (uid: string, minute: number) =>
    correlator.series(uid, 'Warning FailedScheduling', minute * minuteMs)
  const first = seriesAt('a', 0)
  seriesAt('b', 1)
  equal(seriesAt('a', 5), first)
  seriesAt('c', 8)
  deepEqual([correlator.size, seriesAt('a', 9)], [2, first])
})

test('the number of objects is bounded at any rate of events', () => {
  const correlator = new EventCorrelator()
  for (let index = 0; index < correlatedObjectsMax * 2; index++)
    correlator.correlate(`uid-${index}`, 'Normal Made', '', 0)
  equal(correlator.size, correlatedObjectsMax)
})
