// CacheFeed: one watch over the whole store feeds the caches of all kinds, in the order of revisions. Caches of custom
// resources join and leave while it runs.
import type { Clock } from '../../base/time/clock.ts'
import { expired } from '../../api/errors/status-error.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import {
  Compacted,
  ValueUnreadable,
  type KeyValue,
  type Store,
  type StoreBatch,
  type StoreEvent,
} from '../../store/store.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import { keyPrefix, ofPrefix } from '../storage/store-keys.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { Change } from './change-history.ts'
import { FeedProgress } from './feed-progress.ts'
import { historyRevisionsMin, HistoryWindow } from './history-window.ts'
import type { WatchCache } from './watch-cache.ts'

const retryMs = 100
/** As many revisions are replayed at the start, so that watches can resume from before it. */
const replayedRevisionsMax = historyRevisionsMin
/** Wider than the registry: progress is reported for every revision, whatever changed. */
const allKeys = '/'
const everything = { start: allKeys, end: prefixEnd(allKeys) }

export class CacheFeed {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Log
  /** By the prefix of their keys. */
  readonly #caches: Map<string, WatchCache>
  /** Caches that are being filled, with the changes since they joined. */
  readonly #joining = new Map<WatchCache, StoreEvent[]>()
  readonly #window = new HistoryWindow()
  readonly #progress = new FeedProgress()
  #signal: AbortSignal | undefined

  constructor(store: Store, caches: readonly WatchCache[], clock: Clock, log: Log) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#caches = new Map(caches.map((cache) => [keyPrefix(cache.kind), cache]))
  }

  /** Adds a cache. It is filled as soon as the feed runs; reads wait for it. */
  add(cache: WatchCache): void {
    this.#caches.set(keyPrefix(cache.kind), cache)
    if (this.#signal === undefined) return
    this.#joining.set(cache, [])
    void this.#join(cache, this.#signal)
  }

  /** Removes a cache and ends its watches. */
  remove(cache: WatchCache): void {
    const prefix = keyPrefix(cache.kind)
    if (this.#caches.get(prefix) === cache) this.#caches.delete(prefix)
    this.#joining.delete(cache)
    cache.retire()
  }

  /** Fills a cache from the store, then applies the changes that have arrived meanwhile. */
  async #join(cache: WatchCache, signal: AbortSignal): Promise<void> {
    const prefix = keyPrefix(cache.kind)
    while (this.#joining.has(cache) && !signal.aborted)
      try {
        const { items, revision } = await this.#store.range({ start: prefix, end: prefixEnd(prefix) }, signal)
        const entries = await this.#entriesOf(items, prefix, cache)
        const events = this.#joining.get(cache)
        if (events === undefined) return // removed, or filled with all others
        this.#joining.delete(cache)
        cache.reset(revision, entries)
        for (const event of events) if (event.revision > revision) cache.apply([toChange(event, prefix, cache)])
        cache.follow(this.#progress)
      } catch (error) {
        if (signal.aborted) return
        this.#log.warn('a cache could not be filled', { resource: cache.kind.plural, error: errorText(error) })
        await this.#clock.sleep(retryMs, signal).catch(() => {}) // the loop checks the signal
      }
  }

  /** Fills the caches, then applies changes until the signal ends it. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    let isPastReadable = true
    while (!signal.aborted) {
      try {
        const { present, filled } = await this.#fill(isPastReadable, signal)
        this.#signal = signal
        let isReady = filled === present
        if (isReady) onReady()
        const slice = new WorkSlice(this.#clock)
        for await (const batches of this.#store.watch({ prefix: allKeys, from: filled + 1 }, signal).batches())
          for (const batch of batches) {
            this.#apply(batch)
            if (!isReady && slice.isUsedUp()) await slice.next()
            if (isReady || batch.revision < present) continue
            isReady = true
            onReady()
          }
      } catch (error) {
        this.#signal = undefined
        if (isPastReadable && error instanceof ValueUnreadable) {
          // Values that were replaced since may be encrypted with a key that was retired.
          isPastReadable = false
          continue
        }
        isPastReadable = true
        this.#log.warn('the watch of the store broke; the caches are filled again', { error: errorText(error) })
        await this.#clock.sleep(retryMs, signal)
      }
    }
  }

  /** Fills the caches with an earlier state, if it can be read, so that watches from before a restart can resume. */
  async #fill(isPastReadable: boolean, signal: AbortSignal): Promise<{ present: number; filled: number }> {
    const { revision: present } = await this.#store.range({ ...everything, limit: 1 }, signal)
    const past = Math.max(1, present - replayedRevisionsMax)
    const filled = isPastReadable ? await this.#readableRevision(past, present, signal) : present
    // Filling one cache may add others: the definitions of custom resources come before their objects.
    for (const [prefix, cache] of this.#caches) {
      const range = { start: prefix, end: prefixEnd(prefix), revision: filled }
      const { items } = await this.#store.range(range, signal)
      const entries = await this.#entriesOf(items, prefix, cache)
      const lost = present < cache.revision ? expired('the store was restored; list again') : undefined
      this.#joining.delete(cache)
      cache.reset(filled, entries, lost)
    }
    this.#progress.reached(filled)
    for (const cache of this.#caches.values()) cache.follow(this.#progress)
    this.#window.reset()
    return { present, filled }
  }

  /** In slices: decoding tens of thousands of objects takes seconds, and other caches are read meanwhile. */
  async #entriesOf(items: readonly KeyValue[], prefix: string, cache: WatchCache): Promise<CacheEntry[]> {
    const slice = new WorkSlice(this.#clock)
    const entries: CacheEntry[] = []
    for (const item of items) {
      const stored = StoredObject.ofItem(item)
      entries.push([item.key.slice(prefix.length), cache.isObserved ? stored.decode() : stored])
      if (slice.isUsedUp()) await slice.next()
    }
    return entries
  }

  /** The revision, or the oldest one that the store still has; the present one where the store does not name it. */
  async #readableRevision(revision: number, present: number, signal: AbortSignal): Promise<number> {
    try {
      await this.#store.range({ ...everything, limit: 1, revision }, signal)
      return revision
    } catch (error) {
      if (error instanceof Compacted) return error.oldest ?? present
      throw error
    }
  }

  #apply({ revision, events }: StoreBatch): void {
    if (events.length === 1) this.#applyOne(events[0] as StoreEvent)
    else this.#applyAll(events)
    if (events.length === 0)
      for (const cache of this.#caches.values()) if (!this.#joining.has(cache)) cache.counts.bookmarks++
    this.#progress.reached(revision)
    const droppable = this.#window.advance(revision, this.#clock.monotonicMs())
    if (droppable !== undefined) for (const cache of this.#caches.values()) cache.dropHistory(droppable)
  }

  /** Most revisions change one object. */
  #applyOne(event: StoreEvent): void {
    const cache = this.#applying(event)
    if (cache !== undefined) cache.apply([toChange(event, keyPrefix(cache.kind), cache)])
  }

  #applyAll(events: readonly StoreEvent[]): void {
    const changes = new Map<WatchCache, Change[]>()
    for (const event of events) {
      const cache = this.#applying(event)
      if (cache !== undefined) getOrInsert(changes, cache, () => []).push(toChange(event, keyPrefix(cache.kind), cache))
    }
    for (const [cache, list] of changes) cache.apply(list)
  }

  /** The cache that has the object, unless that is still being filled: it gets the event later. */
  #applying(event: StoreEvent): WatchCache | undefined {
    const cache = ofPrefix(this.#caches, keyOf(event))
    const joining = cache && this.#joining.get(cache)
    joining?.push(event)
    return joining === undefined ? cache : undefined
  }
}

const keyOf = (event: StoreEvent): string => (event.kind === 'put' ? event.item.key : event.key)

type CacheEntry = readonly [key: string, stored: StoredObject]

function toChange(event: StoreEvent, prefix: string, cache: WatchCache): Change {
  const key = keyOf(event).slice(prefix.length)
  const { revision } = event
  if (event.kind === 'delete') return { revision, key, now: undefined, before: cache.get(key) }
  const { item } = event
  // An object that was just created cannot be in the cache, and in a large one a search takes microseconds.
  const before = item.createRevision === revision ? undefined : cache.get(key)
  return { revision, key, now: StoredObject.ofItem(item), before }
}
