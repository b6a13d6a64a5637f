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

test('the same seed gives the same sequence, another seed another', () => {
  deepEqual(firstNumbers(1), firstNumbers(1))
  notDeepEqual(firstNumbers(1), firstNumbers(2))
  notDeepEqual(firstNumbers(1), firstNumbers(1 + 2 ** 32))
})

test('every value below the limit occurs, and none above', () => {
  for (const random of [seededRandom(3), systemRandom]) {
    const seen = new Set(Array.from({ length: 2000 }, () => random.below(10)))
    deepEqual([...seen].toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    ok(random.fraction() < 1)
    equal(random.bytes(7).length, 7)
  }
})

test('a fork does not affect others, and the same name gives the same fork', () => {
  const draws = (before: number, purpose: string) => {
    const random = seededRandom(5)
    random.bytes(before)
    const other = random.fork('other')
    other.bytes(before)
    const fork = random.fork(purpose)
    return Array.from({ length: 10 }, () => fork.below(1000))
  }
  deepEqual(draws(0, 'pods'), draws(100, 'pods'))
  notDeepEqual(draws(0, 'pods'), draws(0, 'nodes'))
  notDeepEqual(
    draws(0, 'pods'),
    Array.from({ length: 10 }, () => seededRandom(6).fork('pods').below(1000)),
  )
  equal(systemRandom.fork('pods'), systemRandom)
})

test('a restored source continues the sequence, and so do its forks', () => {
  const random = seededRandom(9)
  const draw = () => [random.below(1000), random.fork('a').below(1000), random.fork('b').below(1000)]
  random.fork('a').bytes(3)
  const state = random.save()
  const first = [draw(), draw()]
  random.restore(state)
  deepEqual([draw(), draw()], first)
})
