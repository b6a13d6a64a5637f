import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { getOrInsert } from './get-or-insert.ts'

test('a value is computed once, even when it is undefined', () => {
  const map = new Map<string, number | undefined>()
  let made = 0
  const make = () => {
    made++
    return undefined
  }
  equal(getOrInsert(map, 'a', make), undefined)
  equal(getOrInsert(map, 'a', make), undefined)
  equal(made, 1)
  equal(
    getOrInsert(map, 'b', () => 2),
    2,
  )
})
