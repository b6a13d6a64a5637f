import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isShared, onceForShared, share } from './shared-values.ts'

test('a function is asked once about a shared value, and each time about another', () => {
  let asked = 0
  const lengthOf = onceForShared((list: readonly number[]) => {
    asked++
    return list.length
  })
  const own = [1]
  const common = share([1, 2])
  equal(isShared(own), false)
  equal(isShared(common), true)
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
