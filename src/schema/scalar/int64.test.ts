import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { compareInt64, int64, nextInt64, secondsAsMs, type Int64 } from './int64.ts'

const rows: [text: string, value: bigint | undefined][] = [
  ['0', 0n],
  ['-0', 0n],
  ['+7', 7n],
  ['007', 7n],
  ['9223372036854775807', 9_223_372_036_854_775_807n],
  ['9223372036854775808', undefined],
  ['-9223372036854775808', -9_223_372_036_854_775_808n],
  ['-9223372036854775809', undefined],
  [`${'0'.repeat(1_000_000)}5`, 5n],
  ['9'.repeat(1_000_000), undefined],
  ['', undefined],
  ['1.0', undefined],
  ['0x1', undefined],
]
for (const [text, value] of rows)
  test(`${text.slice(0, 30)} (${text.length} characters) is ${value}`, () => equal(int64(text), value))

const largest = 2n ** 63n - 1n

const next: [value: Int64, next: Int64][] = [
  [1, 2],
  [2 ** 53 - 1, 2n ** 53n],
  [2n ** 53n, 2n ** 53n + 1n],
  [-(2n ** 53n), -(2 ** 53 - 1)],
  [largest, -(2n ** 63n)],
]
for (const [value, wanted] of next) test(`after ${value} comes ${wanted}`, () => equal(nextInt64(value), wanted))

test('integers are compared exactly', () => {
  equal(compareInt64(2n ** 53n + 1n, 2n ** 53n + 2n), -1)
  equal(compareInt64(2n ** 53n + 1n, 2 ** 53 - 1), 1)
  equal(compareInt64(largest, largest), 0)
})

// Times of deletion that upstream computed from these grace periods.
const durations: [seconds: Int64, ms: number][] = [
  [30, 30_000],
  [-1, -1_000],
  [9_223_372_036, 9_223_372_036_000],
  [9_223_372_037, -9_223_372_036_709],
  [300_000_000_000, 4_852_094_820_647],
]
for (const [seconds, ms] of durations)
  test(`a duration of ${seconds} s is ${ms} ms`, () => equal(secondsAsMs(seconds), ms))
