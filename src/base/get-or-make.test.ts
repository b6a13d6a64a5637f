import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { getOrMake } from './get-or-make.ts'

test('a value is made once, also when it is undefined', () => {
  const map = new Map<string, number | undefined>()
  let made = 0
  const make = () => {
    made++
    return undefined
  }
  equal(getOrMake(map, 'a', make), undefined)
  equal(getOrMake(map, 'a', make), undefined)
  equal(made, 1)
  equal(
    getOrMake(map, 'b', () => 2),
    2,
  )
})
