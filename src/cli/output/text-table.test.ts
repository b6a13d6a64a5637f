import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { textTable } from './text-table.ts'

const cases: readonly [name: string, rows: readonly (readonly string[])[], text: string][] = [
  ['no rows', [], ''],
  ['the first row only', [['NAME', 'SIZE']], 'NAME   SIZE\n'],
  [
    'columns are as wide as their longest cell, and lines have no spaces at the end',
    [
      ['NAME', 'SIZE'],
      ['a longer name', '1'],
      ['a', ''],
    ],
    'NAME            SIZE\na longer name   1\na\n',
  ],
]
for (const [name, rows, text] of cases) test(name, () => equal(textTable(rows), text))
