import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { selection } from '../../bench/selection.ts'

const all = [{ name: 'flow' }, { name: 'store' }]

const rows: [wanted: string[], run: string[]][] = [
  [[], ['flow', 'store']],
  [['store'], ['store']],
  [['store', '--seconds', '300', '--kubernetes'], ['store']],
  [
    ['--rounds', '3'],
    ['flow', 'store'],
  ],
]
for (const [wanted, run] of rows)
  test(`npm run bench -- ${wanted.join(' ')} runs ${run.join(' and ')}`, () =>
    deepEqual(
      selection(all, wanted).map(({ name }) => name),
      run,
    ))

const unknown: [wanted: string, message: string][] = [
  ['stor', 'unknown benchmark "stor"; did you mean store?'],
  ['zzz', 'unknown benchmark "zzz"; there are flow, store'],
]
for (const [wanted, message] of unknown)
  test(`the benchmark ${wanted} does not exist`, () => throws(() => selection(all, ['flow', wanted]), { message }))
