import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean, similarNames } from './similar-names.ts'

const rows: [what: string, wanted: string, known: string[], similar: string[]][] = [
  ['a missing letter', 'statu', ['status', 'up'], ['status']],
  ['two letters swapped', 'folw', ['flow', 'why'], ['flow']],
  ['another case', 'Web', ['web'], ['web']],
  ['a beginning', 'data', ['data-dir', 'port'], ['data-dir']],
  ['a name with a suffix', 'web-7957885594', ['web', 'api'], ['web']],
  ['the closest first, then by name', 'wxb', ['wxbb', 'wab', 'web'], ['wxbb', 'wab', 'web']],
  ['three at most', 'aaaa', ['aaab', 'aaac', 'aaad', 'aaae'], ['aaab', 'aaac', 'aaad']],
  ['no name that differs much', 'dance', ['status', 'up', 'why'], []],
]
for (const [what, wanted, known, similar] of rows)
  test(`similar names: ${what}`, () => deepEqual(similarNames(wanted, known), similar))

test('the question lists the similar names', () => {
  equal(didYouMean([]), '')
  equal(didYouMean(['web']), 'did you mean web?')
  equal(didYouMean(['a', 'b', 'c']), 'did you mean a, b or c?')
})
