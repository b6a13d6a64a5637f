import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { columnWidths } from './column-widths.ts'

const rows: [what: string, natural: number[], room: number, widths: number[]][] = [
  ['columns that fit', [10, 5, 5], 24, [10, 5, 5]],
  ['one long column', [60, 5, 5], 40, [26, 5, 5]],
  ['two long columns, which are cut to the same width', [40, 30, 5], 49, [20, 20, 5]],
  ['an odd surplus', [40, 40, 5], 50, [20, 21, 5]],
  ['columns that cannot be cut further', [6, 6, 6], 10, [6, 6, 6]],
  ['no columns', [], 10, []],
]
for (const [what, natural, room, widths] of rows)
  test(`widths of ${what}`, () => deepEqual(columnWidths(natural, room, 2), widths))
