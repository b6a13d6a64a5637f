import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { ResponseCache, secondsToKeep, type Resolution } from './response-cache.ts'
import { addressAnswer, authorityOf } from './upstream.harness.ts'

const empty: Resolution = { code: 0, answers: [], authority: [], additional: [] }
const withAnswer = (ttlSeconds: number): Resolution => ({
  ...empty,
  answers: [addressAnswer('a', '192.0.2.1', ttlSeconds)],
})

const rows: readonly [string, Resolution, number][] = [
  ['an answer', withAnswer(60), 60],
  ['an answer with a long time to live', withAnswer(100_000), 3600],
  ['an answer that must not be cached', withAnswer(0), 0],
  [
    'the shortest of several',
    { ...empty, answers: [addressAnswer('a', '192.0.2.1', 60), addressAnswer('a', '192.0.2.2', 7)] },
    7,
  ],
  ['a denial', { ...empty, code: 3, authority: [authorityOf('a', 30, 60)] }, 30],
  ['a denial with a long time to live', { ...empty, code: 3, authority: [authorityOf('a', 86_400, 86_400)] }, 1800],
  ['a name without records', { ...empty, authority: [authorityOf('a', 30, 10)] }, 10],
  ['a denial without an authority', { ...empty, code: 3 }, 0],
  ['a failure', { ...empty, code: 2, authority: [authorityOf('a', 30, 10)] }, 0],
]

describe('how long a response is cached', () => {
  for (const [name, resolution, seconds] of rows) test(name, () => assert.equal(secondsToKeep(resolution), seconds))
})

describe('the bounds of the cache', () => {
  test('the least recently used entry is evicted', () => {
    const cache = new ResponseCache(new VirtualClock(), { entriesMax: 2, bytesMax: 1 << 20 })
    cache.set('a', withAnswer(60))
    cache.set('b', withAnswer(60))
    cache.get('a')
    cache.set('c', withAnswer(60))
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => cache.get(key) !== undefined),
      [true, false, true],
    )
  })

  test('bytes are bounded', () => {
    const cache = new ResponseCache(new VirtualClock(), { entriesMax: 1_000, bytesMax: 5_000 })
    const opaque = { ...addressAnswer('a'), type: 64, data: { kind: 'opaque', bytes: new Uint8Array(1_000) } } as const
    for (let index = 0; index < 100; index++) cache.set(`key ${index}`, { ...empty, answers: [opaque] })
    assert.ok(cache.size === 3 && cache.bytes <= 5_000, `${cache.size} entries, ${cache.bytes} bytes`)
    cache.set('too large', { ...empty, answers: [opaque, opaque, opaque, opaque, opaque] })
    assert.equal(cache.get('too large'), undefined)
  })

  test('a replaced entry is counted once', () => {
    const cache = new ResponseCache(new VirtualClock(), { entriesMax: 10, bytesMax: 5_000 })
    for (let index = 0; index < 100; index++) cache.set('a', withAnswer(60))
    const { bytes } = cache
    cache.set('a', withAnswer(60))
    assert.deepEqual([cache.size, cache.bytes], [1, bytes])
  })
})
