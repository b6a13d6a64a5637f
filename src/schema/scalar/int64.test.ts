import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { int64 } from './int64.ts'

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
