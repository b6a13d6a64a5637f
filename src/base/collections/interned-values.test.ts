import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isInterned, memoizeInterned, markInterned } from './interned-values.ts'

test('a function is called once for a shared value, and every time for another', () => {
  let asked = 0
  const lengthOf = memoizeInterned((list: readonly number[]) => {
    asked++
    return list.length
  })
  const own = [1]
  const common = markInterned([1, 2])
  equal(isInterned(own), false)
  equal(isInterned(common), true)
  for (const [list, length, sum] of [
    [own, 1, 1],
    [own, 1, 2],
    [common, 2, 3],
    [common, 2, 3],
  ] as const) {
    equal(lengthOf(list), length)
    equal(asked, sum)
  }
})
