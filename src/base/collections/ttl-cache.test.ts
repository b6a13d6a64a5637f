import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TtlCache } from './ttl-cache.ts'
import { VirtualClock } from '../time/virtual-clock.ts'

test('a value expires after its TTL, and the oldest is evicted', async () => {
  const clock = new VirtualClock()
  const cache = new TtlCache<string>(clock, 2)
  cache.set('a', '1', 1_000)
  cache.set('b', '2', 5_000)
  equal(cache.get('a'), '1')
  await clock.advance('1s')
  equal(cache.get('a'), undefined)
  cache.set('c', '3', 5_000)
  cache.set('d', '4', 5_000)
  equal(cache.get('b'), undefined)
  equal(cache.get('d'), '4')
})

test('expired entries that are not read again are removed by later ones', async () => {
  const clock = new VirtualClock()
  const cache = new TtlCache<number>(clock, 1_000)
  for (let index = 0; index < 100; index++) {
    cache.set(`k${index}`, index, 5_000)
    await clock.advance('1s')
  }
  equal(cache.size, 5)
  equal(cache.get('k99'), 99)
})
