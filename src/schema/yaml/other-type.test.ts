// Texts that are quoted because they look like values of another type, and texts that only resemble them.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { isOtherType } from './other-type.ts'

const cases: [name: string, others: readonly string[], texts: readonly string[]][] = [
  ['words', ['', '~', 'null', 'y', 'N', 'Yes', 'OFF', 'on', 'TRUE', 'false'], ['tRUE', 'nil', 'None', 'yess', 'oN']],
  ['special floats', ['.inf', '-.INF', '+.Inf', '.nan', '.NaN'], ['.iNF', '-.nan', 'inf', '.', '..']],
  ['decimal numbers', ['1', '+1', '-1.5', '1.', '.5', '.5e3', '1e3', '010', '08'], ['1e', '1e400', '.5e999', '1,000']],
  ['digits with underscores', ['1_000', '1__0', '1_'], ['_1', '.1_0']],
  ['integers with a base', ['0x1f', '-0X1F', '0o7', '0b1', '-0b1', '+0x7fffffffffffffff'], ['0x', '0o8', '0b2', '0xg']],
  [
    'integers of 64 bits',
    ['0xffffffffffffffff', '0x000000000000000000001', '-0x8000000000000000', '18446744073709551616'],
    ['0xfffffffffffffffff', '+0x8000000000000000', '-0x8000000000000001', `0b1${'0'.repeat(64)}`],
  ],
  ['numbers with the base 60', ['12:30:45', '1:5.5', '+1:2'], ['1:60', '12:30:', ':30']],
  [
    'dates',
    ['2019-01-01', '2019-1-1', '2020-02-29'],
    ['2019-02-29', '2019-13-01', '2019-00-01', '2019-01', '19-01-01'],
  ],
  [
    'times',
    ['2019-01-01T00:00:00Z', '2019-01-01t01:02:03+01:00', '2019-01-01 1:2:3.5'],
    ['2019-01-01T25:00:00Z', '2019-01-01T00:60:00Z', '2019-01-01T00:00:60Z', '2019-01-01T00:00:00', '2019-01-01 1:2'],
  ],
  ['other texts', [], ['plain', '-', '-a', '<<', '=', 'nothing', 'Tuesday', 'of', '~a']],
]
for (const [name, others, texts] of cases)
  test(name, () => {
    deepEqual([...others, ...texts].filter(isOtherType), others)
  })
