// The watch cache in isolation: history and its bounds, freshness, and a restart of the feed.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { Channel } from '../../base/async/channel.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { expired, StatusError } from '../../api/errors/status-error.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import type { StoreBatch } from '../../store/store.ts'
import { storeKey } from '../storage/store-keys.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { storedBytes } from '../storage/stored-json.ts'
import { CacheFeed } from './cache-feed.ts'
import { Selection } from './selection.ts'
import { longSelectorsCharsMax } from './selector-limit.ts'
import { WatchCache } from './watch-cache.ts'
import type { WatchEvent } from './watch-event.ts'

const { signal } = new AbortController()
const object = (name: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' } as ApiObject['metadata'],
})
const stored = (name: string, revision: number) => StoredObject.ofBytes(storedBytes(object(name)), revision)
const everything = new Selection(configMap, '', '', '')
const from = (revision: number | 'now') => ({
  selection: everything,
  from: revision,
  bookmarks: false,
  initialEventsEnd: false,
  sender: 'test',
  timeoutMs: undefined,
})

function newCache() {
  const clock = new VirtualClock()
  return { clock, cache: new WatchCache(configMap, { clock, flow: new FlowRecorder(clock) }) }
}

async function names(events: AsyncIterable<WatchEvent>, count: number): Promise<string[]> {
  const seen: string[] = []
  for await (const event of events) {
    seen.push(
      event.type === 'BOOKMARK' || event.type === 'ERROR'
        ? event.type
        : `${event.type} ${event.stored.object.metadata.name}@${event.stored.revision}`,
    )
    if (seen.length === count) break
  }
  return seen
}

test('old states are readable within the history, and not before it', () => {
  const { cache } = newCache()
  cache.reset(10, [['default/a', stored('a', 9)]])
  cache.apply([{ revision: 11, key: 'default/b', now: stored('b', 11), before: undefined }])
  cache.progress(11)
  cache.apply([{ revision: 12, key: 'default/a', now: undefined, before: stored('a', 9) }])
  cache.progress(12)
  const keys = (revision: number | undefined) => Array.from(cache.stateAt(revision).range('', ''), ([key]) => key)
  deepEqual([keys(undefined), keys(11), keys(10)], [['default/b'], ['default/a', 'default/b'], ['default/a']])
  throws(
    () => cache.stateAt(9),
    (error) => error instanceof StatusError && error.code === 410,
  )
  throws(() => cache.watch(from(9), signal), /too old resource version: 9 \(10\)/)
})

test('a watch resumes after its revision', async () => {
  const { cache } = newCache()
  cache.reset(10, [['default/a', stored('a', 9)]])
  for (const [index, name] of ['b', 'c'].entries())
    cache.apply([{ revision: 11 + index, key: `default/${name}`, now: stored(name, 11 + index), before: undefined }])
  deepEqual(await names(cache.watch(from(10), signal), 2), ['ADDED b@11', 'ADDED c@12'])
  deepEqual(await names(cache.watch(from(11), signal), 1), ['ADDED c@12'])
  deepEqual(await names(cache.watch(from('now'), signal), 3), ['ADDED a@9', 'ADDED b@11', 'ADDED c@12'])
})

test('a watch from a future revision gets the changes after it', async () => {
  const { cache } = newCache()
  cache.reset(10, [['default/a', stored('a', 9)]])
  const watched = names(cache.watch(from(12), signal), 1)
  for (const [index, name] of ['b', 'c', 'd'].entries())
    cache.apply([{ revision: 11 + index, key: `default/${name}`, now: stored(name, 11 + index), before: undefined }])
  deepEqual(await watched, ['ADDED d@13'])
})

test('a reset and a close end watches without an error, unless the store has lost revisions', async () => {
  const { cache } = newCache()
  cache.reset(1, [])
  const reset = names(cache.watch(from(1), signal), 1)
  cache.reset(5, [])
  deepEqual(await reset, [])
  const lost = names(cache.watch(from(5), signal), 1)
  cache.reset(3, [], expired('the store was restored; list again'))
  await rejects(lost, (error) => error instanceof StatusError && error.code === 410)
  const closed = names(cache.watch(from(3), signal), 1)
  cache.close()
  deepEqual(await closed, [])
})

test('after a reset to an earlier state, readers wait for the changes since then', async () => {
  const { cache } = newCache()
  cache.reset(9, [['default/a', stored('a', 9)]])
  cache.reset(5, [])
  const fresh = cache.waitForRevision(9, signal).then(() => cache.size)
  equal(cache.revision, 5)
  cache.apply([{ revision: 9, key: 'default/a', now: stored('a', 9), before: undefined }])
  cache.progress(9)
  equal(await fresh, 1)
})

test('the size of all objects is extrapolated from some of them', () => {
  const { cache } = newCache()
  equal(cache.estimatedBytes, 0)
  const entries = Array.from({ length: 100 }, (_, index) => [`default/${index}`, stored('same', 1)] as const)
  cache.reset(1, entries)
  equal(cache.estimatedBytes, 100 * storedBytes(object('same')).length)
  for (const [index, [key, before]] of entries.slice(10).entries())
    cache.apply([{ revision: index + 2, key, now: undefined, before }])
  cache.progress(200)
  equal(cache.estimatedBytes, 10 * storedBytes(object('same')).length)
})

test('the watches that a write concerns are counted', () => {
  const { cache } = newCache()
  cache.reset(1, [])
  const watch = (selection: Selection) => cache.watch({ ...from('now'), selection }, signal)
  for (const selection of [
    everything,
    new Selection(configMap, 'default', '', ''),
    new Selection(configMap, 'default', '', 'metadata.name=a'),
    new Selection(configMap, '', '', 'metadata.name=a'),
  ])
    watch(selection)
  const places = [
    ['default', 'a'],
    ['default', 'b'],
    ['default', ''],
    ['other', 'a'],
    ['other', 'b'],
  ] as const
  deepEqual(
    places.map(([namespace, name]) => cache.watchersOf(namespace, name)),
    [4, 2, 2, 2, 1],
  )
})

test('a wait for a revision ends when the revision arrives, after the timeout, or on abort', async () => {
  const waits: number[] = []
  const clock = new VirtualClock()
  const waited = (_: unknown, seconds: number) => void waits.push(seconds)
  const cache = new WatchCache(configMap, { clock, flow: new FlowRecorder(clock), waited })
  cache.reset(1, [])
  const reached = cache.waitForRevision(3, signal)
  cache.progress(2)
  cache.progress(3)
  await reached
  const late = rejects(cache.waitForRevision(4, signal), /Too large resource version: 4, current: 3/)
  await clock.advance('5s')
  await late
  const impatient = new AbortController()
  const left = rejects(cache.waitForRevision(4, impatient.signal), /enough/)
  impatient.abort(new Error('enough'))
  await left
  equal(clock.pendingTimers, 0)
  deepEqual(waits, [0, 3, 0])
})

const selections: [what: string, selection: Selection, names: string[]][] = [
  ['everything', everything, ['a', 'b', 'c']],
  ['one namespace', new Selection(configMap, 'default', '', ''), ['a', 'b', 'c']],
  ['another namespace', new Selection(configMap, 'other', '', ''), []],
  ['one name in one namespace', new Selection(configMap, 'default', '', 'metadata.name=b'), ['b']],
  ['one name in any namespace', new Selection(configMap, '', '', 'metadata.name=c'), ['c']],
  ['all names except one', new Selection(configMap, '', '', 'metadata.name!=c'), ['a', 'b']],
]
test('a watcher receives the selected events, with and without an index', async () => {
  const { cache } = newCache()
  cache.reset(1, [])
  const received = selections.map(([, selection]) => names(cache.watch({ ...from(1), selection }, signal), 4))
  equal(cache.watchers, selections.length)
  for (const [index, name] of ['a', 'b', 'c'].entries())
    cache.apply([{ revision: 2 + index, key: `default/${name}`, now: stored(name, 2 + index), before: undefined }])
  cache.close()
  for (const [index, [what, , expected]] of selections.entries())
    deepEqual(
      await received[index],
      expected.map((name) => `ADDED ${name}@${2 + 'abc'.indexOf(name)}`),
      what,
    )
  equal(cache.watchers, 0)
})

test('history is bounded', () => {
  const { cache } = newCache()
  cache.reset(1, [])
  for (let revision = 2; revision < 21_000; revision++) {
    cache.apply([{ revision, key: 'default/a', now: stored('a', revision), before: undefined }])
    cache.progress(revision)
  }
  throws(() => cache.watch(from(500), signal), /too old/)
  equal(cache.size, 1)
})

test('the feed fills the caches from the store, applies its changes, and restarts when the watch breaks', async () => {
  const { cache, clock } = newCache()
  const store = new MemoryStore(clock)
  const put = (name: string) =>
    store.commit(
      {
        conditions: [],
        operations: [{ kind: 'put', key: storeKey(configMap, 'default', name), value: storedBytes(object(name)) }],
      },
      signal,
    )
  await put('a')
  let fills = 0
  let isBroken = false
  const tasks = new TaskGroup()
  // A store whose first watch breaks after the second put.
  const broken = new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (property !== 'watch' || isBroken) return typeof value === 'function' ? value.bind(target) : value
      return (...args: Parameters<MemoryStore['watch']>) => {
        const whole = target.watch(...args)
        const cut = new Channel<StoreBatch>(10)
        whole.onReadable(() => {
          for (const batch of whole.take(10) ?? []) {
            cut.push(batch)
            if (batch.revision < 3) continue
            isBroken = true
            cut.end(new Error('connection lost'))
          }
        })
        return cut
      }
    },
  })
  const feed = new CacheFeed(broken, [cache], clock, silentLog)
  tasks.start('feed', (stop) => feed.run(stop, () => fills++))
  await clock.settle()
  deepEqual([fills, cache.size], [1, 1])
  await put('b')
  await clock.settle()
  equal(cache.size, 2)
  await put('c')
  await clock.advance('1s')
  deepEqual([fills, cache.size, cache.revision], [2, 3, store.revision])
  await put('d')
  await clock.settle()
  equal(cache.get('default/d')?.object.metadata.resourceVersion, String(store.revision))
  const later = newCache()
  const second = new CacheFeed(store, [later.cache], clock, silentLog)
  tasks.start('after a restart', (stop) => second.run(stop, () => {}))
  await clock.settle()
  deepEqual(await names(later.cache.watch(from(3), signal), 2), ['ADDED c@4', 'ADDED d@5'])
  tasks.stop()
  await tasks.join()
})

test('the long selectors of the watches of one owner are limited until the watches end', () => {
  const { cache } = newCache()
  cache.reset(10, [])
  const start = (owner: string | undefined, selectorChars: number) =>
    cache.watch({ ...from(10), owner, selectorChars }, signal)
  const half = longSelectorsCharsMax / 2
  const [first] = [start('jane', half), start('jane', half)]
  const tooLong = { code: 429, message: 'the selectors of the watches of this user are too long' }
  throws(() => start('jane', 128), tooLong)
  equal(cache.watchers, 2)
  start('jane', 127)
  start('mallory', half)
  start(undefined, 10 * half)
  first.end()
  start('jane', half)
  throws(() => start('jane', 128), tooLong)
})
