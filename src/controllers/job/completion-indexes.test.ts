// IndexSet: texts, operations compared with sets of numbers, and ranges of billions.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { withTimeLimit } from '../../base/work/time-limit.harness.ts'
import { IndexSet } from './completion-indexes.ts'

const texts: [text: string, completions: number, result: string, size: number][] = [
  ['', 9, '', 0],
  ['3', 9, '3', 1],
  ['0,1', 9, '0,1', 2],
  ['0-2,5', 9, '0-2,5', 4],
  ['0-2,5,6', 9, '0-2,5,6', 5],
  ['1,3,5-7', 9, '1,3,5-7', 5],
  ['0-9', 3, '0-2', 3],
  ['7-9', 3, '', 0],
  ['5,0-2,2-4', 9, '0-5', 6],
  ['x,-1,3-,2-1,1', 9, '1', 1],
  ['0-2147483646', 2_147_483_647, '0-2147483646', 2_147_483_647],
]
for (const [text, completions, result, size] of texts)
  test(`the indexes of '${text}' below ${completions}`, () => {
    const read = () => IndexSet.parse(text, completions)
    deepEqual(
      withTimeLimit(() => [read().toString(), read().size]),
      [result, size],
    )
  })

test('an IndexSet equals a set of numbers', () => {
  const random = seededRandom(1)
  const limit = 40
  const some = () => Array.from({ length: random.below(25) }, () => random.below(limit))
  for (let round = 0; round < 300; round++) {
    const numbers = new Set(some())
    const others = new Set(some())
    const set = IndexSet.empty.with(numbers)
    const other = IndexSet.parse([...others].join(','), limit)
    const all = Array.from({ length: limit }, (_, index) => index)
    deepEqual(
      all.filter((index) => set.has(index)),
      all.filter((index) => numbers.has(index)),
    )
    deepEqual(
      [...set.missingBelow(limit)],
      all.filter((index) => !numbers.has(index)),
    )
    equal(set.countIn(other), numbers.intersection(others).size)
    equal(set.union(other).toString(), IndexSet.empty.with(numbers.union(others)).toString())
    equal(IndexSet.parse(set.toString(), limit).toString(), set.toString())
  }
})

test('missing indexes after billions of others', () => {
  const completions = 2_147_483_647
  withTimeLimit(() => {
    const set = IndexSet.parse(`1-${completions - 2}`, completions)
    deepEqual([...set.missingBelow(completions)], [0, completions - 1])
    equal(set.countIn(IndexSet.parse(`0-${completions - 1}`, completions)), completions - 2)
  })
})
