import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { areRepeated, firstIndexes } from './first-indexes.ts'

test('the first of equal items is found, by item or by id', () => {
  deepEqual(firstIndexes(['a', 'b', 'a', 'a']), [0, 1, 0, 0])
  deepEqual(
    areRepeated([{ name: 'a' }, { name: 'b' }, { name: 'b' }], ({ name }) => name),
    [false, false, true],
  )
  deepEqual(firstIndexes([]), [])
})

test('the id of each item is computed once', () => {
  let asked = 0
  firstIndexes(Array.from({ length: 1_000 }), () => asked++)
  equal(asked, 1_000)
})
