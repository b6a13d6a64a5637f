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

test('a heavy entry takes the place of several; one that is too heavy is not kept', () => {
  const map = new RecentMap<string, number>(4)
  const kept = () => ['a', 'b', 'c', 'd'].filter((key) => map.get(key) !== undefined)
  map.set('a', 1)
  map.set('b', 2, 2)
  map.set('c', 3)
  deepEqual(kept(), ['a', 'b', 'c'])
  map.set('a', 4, 3)
  deepEqual(kept(), ['a', 'c'])
  map.delete('a')
  map.set('b', 5, 3)
  deepEqual(kept(), ['b', 'c'])
  map.set('d', 6, 5)
  deepEqual(kept(), [])
})
