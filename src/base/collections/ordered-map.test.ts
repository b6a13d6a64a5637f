import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { OrderedMap, prefixEnd } from './ordered-map.ts'
import { seededRandom } from '../random/random.ts'

test('behaves as a sorted Map under random changes, and old versions do not change', () => {
  const random = seededRandom(3)
  const model = new Map<string, number>()
  let map = OrderedMap.empty<number>()
  const kept: [OrderedMap<number>, [string, number][]][] = []
  const sorted = () => [...model].toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (let step = 0; step < 4000; step++) {
    const key = `k${random.below(300)}`
    if (random.below(3) === 0) {
      map = map.delete(key)
      model.delete(key)
    } else {
      map = map.set(key, step)
      model.set(key, step)
    }
    if (step % 500 === 0) kept.push([map, sorted()])
    equal(map.size, model.size)
  }
  deepEqual([...map.range('', '')], sorted())
  for (const [version, entries] of kept) deepEqual([...version.range('', '')], entries)
  const between = sorted().filter(([key]) => key >= 'k1' && key < 'k2')
  deepEqual([...map.range('k1', 'k2')], between)
  equal(map.count('k1', 'k2'), between.length)
  equal(map.count('k2', ''), sorted().filter(([key]) => key >= 'k2').length)
})

test('keys that arrive in order do not degrade the tree', () => {
  let map = OrderedMap.empty<number>()
  for (let i = 0; i < 20_000; i++) map = map.set(String(i).padStart(6, '0'), i)
  equal(map.size, 20_000)
  deepEqual([...map.range('000010', '000012')].length, 2)
  for (let i = 0; i < 20_000; i++) map = map.delete(String(i).padStart(6, '0'))
  equal(map.size, 0)
})

test('a map created from many entries equals the map built one by one, in any order', () => {
  const entries = Array.from({ length: 1000 }, (_, index) => [`k${String(index).padStart(4, '0')}`, index] as const)
  for (const given of [entries, entries.toReversed(), [...entries, ['k0003', -1] as const]]) {
    const whole = OrderedMap.from(given)
    const oneByOne = given.reduce((map, [key, value]) => map.set(key, value), OrderedMap.empty<number>())
    deepEqual([...whole.range('', '')], [...oneByOne.range('', '')])
    equal(whole.count('k0100', 'k0200'), 100)
  }
  equal(OrderedMap.from<number>([]).size, 0)
})

test('the end of a prefix', () => {
  equal(prefixEnd('/registry/pods/'), '/registry/pods0')
  deepEqual([...OrderedMap.empty<number>().set('a/b', 1).set('a0', 2).range('a/', prefixEnd('a/'))], [['a/b', 1]])
})
