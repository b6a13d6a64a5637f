import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { durationNanos, durationText } from './duration.ts'

const durations: [text: string, nanos: number][] = [
  ['0s', 0],
  ['10s', 1e10],
  ['1m30s', 9e10],
  ['1h0m0.5s', 3.6005e12],
  ['100ms', 1e8],
  ['1.5µs', 1500],
  ['-10s', -1e10],
]
for (const [text, nanos] of durations)
  test(`${text} is ${nanos} ns`, () => {
    equal(durationNanos(text), nanos)
    equal(durationText(nanos), text)
  })
