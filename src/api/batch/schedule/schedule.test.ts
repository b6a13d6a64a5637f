// Tables for schedules.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { rfc3339 } from '../../../base/time/clock.ts'
import { parseSchedule } from './schedule.ts'
import { zoneOffset } from './time-zone.ts'

const schedules: [text: string, zone: string | undefined, after: string, next: (string | undefined)[]][] = [
  ['* * * * *', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z']],
  ['*/15 3-4 * * *', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T03:00:00Z', '2030-01-01T03:15:00Z']],
  ['0 0 29 feb *', undefined, '2030-01-01T00:00:00Z', ['2032-02-29T00:00:00Z']],
  ['0 0 31 2 *', undefined, '2030-01-01T00:00:00Z', [undefined]],
  ['0 12 * * mon-fri', undefined, '2030-01-04T13:00:00Z', ['2030-01-07T12:00:00Z']],
  [
    '0 0 13 * 5',
    undefined,
    '2030-01-01T00:00:00Z',
    ['2030-01-04T00:00:00Z', '2030-01-11T00:00:00Z', '2030-01-13T00:00:00Z'],
  ],
  ['@hourly', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T01:00:00Z']],
  ['@yearly', undefined, '2030-01-01T00:00:00Z', ['2031-01-01T00:00:00Z']],
  ['@every 90s', undefined, '2030-01-01T00:00:00Z', ['2030-01-01T00:01:30Z', '2030-01-01T00:03:00Z']],
  ['0 9 * * *', 'Asia/Kolkata', '2030-01-01T00:00:00Z', ['2030-01-01T03:30:00Z']],
  ['0 0 * * *', 'America/New_York', '2030-01-01T00:00:00Z', ['2030-01-01T05:00:00Z']],
  // Clocks go forward on 2030-03-10 at 02:00: there is no 02:30 on that day.
  ['30 2 * * *', 'America/New_York', '2030-03-09T08:00:00Z', ['2030-03-11T06:30:00Z']],
  // Clocks go back on 2030-11-03 at 02:00: there are two 01:30 on that day.
  [
    '30 1 * * *',
    'America/New_York',
    '2030-11-02T12:00:00Z',
    ['2030-11-03T05:30:00Z', '2030-11-03T06:30:00Z', '2030-11-04T06:30:00Z'],
  ],
  // In Havana clocks go forward at midnight: the day begins at one.
  ['0 1 * * *', 'America/Havana', '2030-03-09T12:00:00Z', ['2030-03-10T05:00:00Z']],
]
for (const [text, zone, after, expected] of schedules)
  test(`${text} in ${zone ?? 'UTC'} after ${after}`, () => {
    const schedule = parseSchedule(text, zone)
    ok(schedule)
    let atMs = Date.parse(after)
    for (const wanted of expected) {
      const nextMs = schedule.next(atMs)
      equal(nextMs === undefined ? undefined : rfc3339(nextMs), wanted)
      atMs = nextMs ?? 0
    }
  })

// Each offset of a time zone takes microseconds, so a search that asks for the offset of each day blocks other work.
const searches: [text: string, why: string][] = [
  ['0 0 31 2 *', 'a day that does not exist'],
  ['0 0 29 2 *', 'a day in years'],
  ['59 23 31 12 *', 'the last minute of a year'],
  [`${'5,'.repeat(100_000)}5 0 1 1 *`, 'a long list'],
]
for (const [text, why] of searches)
  test(`the search of ${why} needs few offsets`, () => {
    let offsets = 0
    const zones: typeof zoneOffset = (zone) => {
      const offsetOf = zoneOffset(zone)
      return offsetOf && ((atMs) => (++offsets, offsetOf(atMs)))
    }
    const schedule = parseSchedule(text, 'America/New_York', zones)
    ok(schedule)
    schedule.next(Date.UTC(2030, 0, 1))
    ok(offsets < 40, `${offsets} offsets`)
  })

test('the search of the last time in ten years needs few offsets', () => {
  let offsets = 0
  const zones = (zone: string) => {
    const offsetOf = zoneOffset(zone)
    return offsetOf && ((atMs: number) => (++offsets, offsetOf(atMs)))
  }
  const schedule = parseSchedule('*/5 * * * *', 'America/New_York', zones)
  ok(schedule)
  equal(schedule.last(Date.UTC(2030, 0, 1), Date.UTC(2040, 0, 1, 0, 3)), Date.UTC(2040, 0, 1))
  ok(offsets < 2_000, `${offsets} offsets`)
})

test('the last time is the one that all times in order lead to', () => {
  const texts = [
    '* * * 1 *',
    '30 6-16/4 * * 1-5',
    '0,1 0 * * *',
    '*/7 * 29 2 *',
    '30 1 * * *',
    '@every 95s',
    '0 0 31 1 *',
  ]
  for (const text of texts)
    for (const zone of ['UTC', 'America/New_York']) {
      const schedule = parseSchedule(text, zone)
      const firstMs = schedule?.next(Date.UTC(2030, 0, 30, 23, 30))
      ok(schedule && firstMs)
      let lastMs = firstMs
      for (let count = 0; count < 400; count++) {
        const nextMs = schedule.next(lastMs)
        if (nextMs === undefined) break
        for (const untilMs of [nextMs - 1, nextMs])
          if (count % 100 < 3)
            equal(schedule.last(firstMs, untilMs), untilMs < nextMs ? lastMs : nextMs, `${text} ${zone}`)
        lastMs = nextMs
      }
    }
})

test('an invalid schedule or time zone is rejected', () => {
  equal(parseSchedule('* * * *', undefined), undefined)
  equal(parseSchedule('x * * * *', undefined), undefined)
  equal(parseSchedule('* * * * *', 'Mars/Olympus'), undefined)
})
