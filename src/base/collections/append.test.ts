import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { append } from './append.ts'

test('any number of items is appended', () => {
  const list = [1]
  append(list, new Set([2, 3]))
  deepEqual(list, [1, 2, 3])
  append(
    list,
    Array.from({ length: 500_000 }, (_, index) => index),
  )
  equal(list.length, 500_003)
})
