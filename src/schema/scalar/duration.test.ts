import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { durationNanos, durationText, parseDuration } from './duration.ts'

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

/** As kube-apiserver v1.36 parses `?timeout=`. */
const parsed: [text: string, result: bigint | string][] = [
  ['.5s', 500_000_000n],
  ['1.s', 1_000_000_000n],
  ['+1s', 1_000_000_000n],
  ['-5s', -5_000_000_000n],
  ['0', 0n],
  ['-0', 0n],
  ['9223372036854775807ns', 9_223_372_036_854_775_807n],
  ['-9223372036854775808ns', -9_223_372_036_854_775_808n],
  ['1.99999999999999999999999s', 2_000_000_000n],
  [`${'0'.repeat(300_000)}1s`, 1_000_000_000n],
  ['', 'invalid duration ""'],
  ['-', 'invalid duration "-"'],
  ['--1s', 'invalid duration "--1s"'],
  ['.', 'invalid duration "."'],
  ['.s', 'invalid duration ".s"'],
  ['1..s', 'missing unit in duration "1..s"'],
  ['1', 'missing unit in duration "1"'],
  ['00', 'missing unit in duration "00"'],
  ['1m2', 'missing unit in duration "1m2"'],
  ['1x', 'unknown unit "x" in duration "1x"'],
  ['1hh', 'unknown unit "hh" in duration "1hh"'],
  ['1 s', 'unknown unit " s" in duration "1 s"'],
  ['1constructor', 'unknown unit "constructor" in duration "1constructor"'],
  ['1µ', String.raw`unknown unit "\xc2\xb5" in duration "1\xc2\xb5"`],
  ['1s"', String.raw`unknown unit "s\"" in duration "1s\""`],
  ['é', String.raw`invalid duration "\xc3\xa9"`],
  ['9223372036854775808ns', 'invalid duration "9223372036854775808ns"'],
  ['3000000h', 'invalid duration "3000000h"'],
  ['99999999999999999999s', 'invalid duration "99999999999999999999s"'],
  ['1'.repeat(300_000), `invalid duration "${'1'.repeat(300_000)}"`],
  [`${'1.1'.repeat(300_000)}s`, `missing unit in duration "${'1.1'.repeat(300_000)}s"`],
]
for (const [text, result] of parsed)
  test(`the duration ${text.slice(0, 30)} is ${String(result).slice(0, 60)}`, () => {
    const duration = parseDuration(text)
    equal(duration.kind === 'duration' ? duration.nanos : duration.fault, result)
  })
