import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { greatestOf, leastOf } from './extremes.ts'

const lists: [why: string, values: readonly number[], least: number, greatest: number][] = [
  ['no values', [], Infinity, -Infinity],
  ['one value', [7], 7, 7],
  ['several values', [3, -1, 2], -1, 3],
  ['more values than a call may have arguments', Array.from({ length: 1_000_000 }, (_, index) => index), 0, 999_999],
]
for (const [why, values, least, greatest] of lists)
  test(`the least and the greatest of ${why}`, () =>
    deepEqual([leastOf(values), greatestOf(values)], [least, greatest]))
