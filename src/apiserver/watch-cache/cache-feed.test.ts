import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { Channel } from '../../base/async/channel.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { Store, StoreBatch } from '../../store/store.ts'
import { CacheFeed } from './cache-feed.ts'
import { historyMsMin, historyRevisionsMin } from './history-window.ts'
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

/** Time passes with every check of a slice, so the number of slices does not depend on the machine. */
class CheckedClock extends VirtualClock {
  #readings = 0

  override monotonicMs(): number {
    return this.#readings++
  }
}

test('caches are filled, and changes are applied again, in slices', async () => {
  const clock = new CheckedClock()
  const store = new MemoryStore(clock)
  const stop = new AbortController()
  const objects = 500
  const changes = 12_000
  const put = (index: number) => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${index}` } })
    const key = `/registry/configmaps/default/m${index}`
    const operations = [{ kind: 'put', key, value: new TextEncoder().encode(text) }] as const
    return store.commit({ conditions: [], operations }, stop.signal)
  }
  for (let index = 0; index < changes; index++) await put(index % objects)
  const cache = new WatchCache(configMap, { clock, flow: new FlowRecorder(clock) })
  const names = new Set<string>()
  cache.observe({ changed: (now) => void names.add(now?.metadata.name ?? '') })
  const state = { isReady: false }
  const running = new CacheFeed(store, [cache], clock, silentLog).run(stop.signal, () => (state.isReady = true))
  let turns = 0
  for (; !state.isReady; turns++) await eventLoopTurn()
  deepEqual([cache.size, names.size, cache.revision], [objects, objects, store.revision])
  // Each slice checks the time five times; 10,000 revisions are applied again.
  ok(turns > (objects + 10_000) / 5 / 2, `${turns}`)
  equal(cache.get('default/m0')?.object.metadata.name, 'm0')
  stop.abort()
  await running.catch(() => {}) // the end of its watch is an error for the feed
})

test('a kind that rarely changes does not keep its changes of past hours', async () => {
  const clock = new VirtualClock()
  const inner = new MemoryStore(clock)
  const batches = new Channel<StoreBatch>(10)
  const store = { range: inner.range.bind(inner), watch: () => batches } as unknown as Store
  const cache = new WatchCache(configMap, { clock, flow: new FlowRecorder(clock) })
  const stop = new AbortController()
  const running = new CacheFeed(store, [cache], clock, silentLog).run(stop.signal, () => {})
  const put = async (revision: number) => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${revision}` } })
    const item = { key: `/registry/configmaps/default/m${revision}`, value: new TextEncoder().encode(text) }
    const event = {
      kind: 'put',
      revision,
      item: { ...item, createRevision: revision, modRevision: revision, version: 1 },
    }
    batches.push({ revision, events: [event as unknown as StoreBatch['events'][number]] })
    await cache.waitForRevision(revision, stop.signal)
  }
  const later = historyRevisionsMin * 2
  await put(10)
  await put(11)
  await clock.advance(historyMsMin)
  await put(later)
  deepEqual([cache.changes.map(({ revision }) => revision), cache.oldestRevision], [[11, later], 10])
  await clock.advance(historyMsMin)
  await put(later + historyRevisionsMin)
  deepEqual(
    [cache.changes.map(({ revision }) => revision), cache.oldestRevision],
    [[later + historyRevisionsMin], later],
  )
  equal(cache.size, 4)
  stop.abort()
  batches.end()
  await running.catch(() => {}) // the end of its watch is an error for the feed
})
