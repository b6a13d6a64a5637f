// CacheFeed: one watch over the whole store feeds the caches of all kinds, in the order of revisions.
import type { Clock } from '../../base/time/clock.ts'
import { expired } from '../../api/errors/status-error.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import { Compacted, type Store, type StoreBatch, type StoreEvent } from '../../store/store.ts'
import { keyPrefix, keyPrefixesOf } from '../storage/store-keys.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { Change, WatchCache } from './watch-cache.ts'

const retryMs = 100
/** As many revisions are replayed at the start, so that watches can resume from before it. */
const replayedRevisionsMax = 10_000
/** Wider than the registry: progress is reported for every revision, whatever changed. */
const allKeys = '/'
const everything = { start: allKeys, end: prefixEnd(allKeys) }

export class CacheFeed {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Log
  readonly #caches: ReadonlyMap<string, WatchCache>
  readonly #all: readonly WatchCache[]

  constructor(store: Store, caches: readonly WatchCache[], clock: Clock, log: Log) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#caches = new Map(caches.map((cache) => [keyPrefix(cache.kind), cache]))
    this.#all = caches
  }

  /** Fills the caches, then applies changes until the signal ends it. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        const { present, filled } = await this.#fill(signal)
        let isReady = filled === present
        if (isReady) onReady()
        for await (const batches of this.#store.watch({ prefix: allKeys, from: filled + 1 }, signal).batches())
          for (const batch of batches) {
            this.#apply(batch)
            if (isReady || batch.revision < present) continue
            isReady = true
            onReady()
          }
      } catch (error) {
        this.#log.warn('the watch of the store broke; the caches start anew', { error: errorText(error) })
        await this.#clock.sleep(retryMs, signal)
      }
    }
  }

  /** Fills the caches with an earlier state, so that watches from before a restart can resume. */
  async #fill(signal: AbortSignal): Promise<{ present: number; filled: number }> {
    const { revision: present } = await this.#store.range({ ...everything, limit: 1 }, signal)
    const filled = await this.#readableRevision(Math.max(1, present - replayedRevisionsMax), present, signal)
    for (const [prefix, cache] of this.#caches) {
      const range = { start: prefix, end: prefixEnd(prefix), revision: filled }
      const { items } = await this.#store.range(range, signal)
      const entries = items.map((item) => [item.key.slice(prefix.length), StoredObject.ofItem(item)] as const)
      cache.reset(filled, entries, present < cache.revision ? expired('the store was restored; list again') : undefined)
    }
    return { present, filled }
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
    const changes = new Map<WatchCache, Change[]>()
    for (const event of events) {
      const key = event.kind === 'put' ? event.item.key : event.key
      const cache = this.#cacheOf(key)
      if (cache === undefined) continue
      const list = getOrInsert(changes, cache, () => [])
      list.push(toChange(event, key.slice(keyPrefix(cache.kind).length), cache))
    }
    for (const [cache, list] of changes) cache.apply(list)
    for (const cache of this.#all) cache.progress(revision)
  }

  #cacheOf(key: string): WatchCache | undefined {
    const [one, two] = keyPrefixesOf(key)
    return this.#caches.get(one) ?? this.#caches.get(two)
  }
}

function toChange(event: StoreEvent, key: string, cache: WatchCache): Change {
  return {
    revision: event.revision,
    key,
    now: event.kind === 'put' ? StoredObject.ofItem(event.item) : undefined,
    before: cache.get(key),
  }
}
