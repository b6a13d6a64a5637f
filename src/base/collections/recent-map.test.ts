import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { RecentMap } from './recent-map.ts'

test('the least recently set key is evicted; a new value for an existing key evicts nothing', () => {
  const map = new RecentMap<string, number>(2)
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    map.set(key, value)
  deepEqual(
    ['a', 'b', 'c'].map((key) => map.get(key)),
    [3, undefined, 4],
  )
})
