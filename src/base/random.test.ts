import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, systemRandom } from './random.ts'

const firstNumbers = (seed: number) =>
  Array.from(
    { length: 20 },
    (
      (random) => () =>
        random.below(1000)
    )(seededRandom(seed)),
  )

test('the same seed gives the same sequence, a neighbour another', () => {
  deepEqual(firstNumbers(1), firstNumbers(1))
  notDeepEqual(firstNumbers(1), firstNumbers(2))
  notDeepEqual(firstNumbers(1), firstNumbers(1 + 2 ** 32))
})

test('every value below the limit is reached, none beyond', () => {
  for (const random of [seededRandom(3), systemRandom]) {
    const seen = new Set(Array.from({ length: 2000 }, () => random.below(10)))
    deepEqual([...seen].toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    ok(random.fraction() < 1)
    equal(random.bytes(7).length, 7)
  }
})
