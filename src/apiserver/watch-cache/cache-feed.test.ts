import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel } from '../../base/async/channel.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Store, StoreBatch } from '../../store/store.ts'
import { CacheFeed } from './cache-feed.ts'
import { WatchCache } from './watch-cache.ts'

test('a revision without changes is a bookmark for every cache', async () => {
  const clock = new VirtualClock()
  const inner = new MemoryStore(clock)
  const batches = new Channel<StoreBatch>(10)
  const store = { range: inner.range.bind(inner), watch: () => batches } as unknown as Store
  const caches = [configMap, secret].map((kind) => new WatchCache(kind, { clock, flow: new FlowRecorder(clock) }))
  const stop = new AbortController()
  const running = new CacheFeed(store, caches, clock, silentLog).run(stop.signal, () => {})
  const reached = Promise.all(caches.map((cache) => cache.waitForRevision(9, stop.signal)))
  batches.push({ revision: 7, events: [] })
  batches.push({ revision: 9, events: [] })
  await reached
  deepEqual(
    caches.map(({ counts }) => counts.bookmarks),
    [2, 2],
  )
  stop.abort()
  batches.end()
  await running.catch(() => {}) // the end of its watch is an error for the feed
})
