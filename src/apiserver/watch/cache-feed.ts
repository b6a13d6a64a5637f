// CacheFeed: one watch over everything in the store feeds the caches of all kinds, in the order of revisions.
import type { Clock } from '../../base/clock.ts'
import { errorText, type Log } from '../../base/log.ts'
import { prefixEnd } from '../../base/ordered-map.ts'
import type { Store, StoreBatch, StoreEvent } from '../../store/store.ts'
import { keyPrefix, registryPrefix } from '../registry/keys.ts'
import { Stored } from '../stored.ts'
import type { Change, WatchCache } from './watch-cache.ts'

const retryMs = 100

export class CacheFeed {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Log
  readonly #caches: ReadonlyMap<string, WatchCache>

  constructor(store: Store, caches: readonly WatchCache[], clock: Clock, log: Log) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#caches = new Map(caches.map((cache) => [keyPrefix(cache.kind), cache]))
  }

  /** Fills the caches, then keeps them up to date until the signal ends it. */
  async run(signal: AbortSignal, onReady: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        const revision = await this.#fill(signal)
        onReady()
        for await (const batch of this.#store.watch({ prefix: registryPrefix, from: revision + 1 }, signal))
          this.#take(batch)
      } catch (error) {
        this.#log.warn('the watch of the store broke; the caches start anew', { error: errorText(error) })
        await this.#clock.sleep(retryMs, signal)
      }
    }
  }

  async #fill(signal: AbortSignal): Promise<number> {
    const { revision } = await this.#store.range(
      { start: registryPrefix, end: prefixEnd(registryPrefix), limit: 1 },
      signal,
    )
    for (const [prefix, cache] of this.#caches) {
      const { items } = await this.#store.range({ start: prefix, end: prefixEnd(prefix), revision }, signal)
      cache.reset(
        revision,
        items.map(({ value, modRevision }) => new Stored(value, modRevision)),
      )
    }
    return revision
  }

  #take({ revision, events }: StoreBatch): void {
    const changes = new Map<WatchCache, Change[]>()
    for (const event of events) {
      const key = event.kind === 'put' ? event.item.key : event.key
      const cache = this.#cacheOf(key)
      if (cache === undefined) continue
      const list = changes.get(cache) ?? []
      list.push(toChange(event, key.slice(keyPrefix(cache.kind).length), cache))
      changes.set(cache, list)
    }
    for (const [cache, list] of changes) cache.apply(list)
    for (const cache of this.#caches.values()) cache.progress(revision)
  }

  #cacheOf(key: string): WatchCache | undefined {
    const first = key.indexOf('/', registryPrefix.length) + 1
    const second = key.indexOf('/', first) + 1
    // Some resources lie two levels deep: /registry/services/specs/.
    return this.#caches.get(key.slice(0, first)) ?? this.#caches.get(key.slice(0, second))
  }
}

function toChange(event: StoreEvent, key: string, cache: WatchCache): Change {
  return {
    revision: event.revision,
    key,
    now: event.kind === 'put' ? new Stored(event.item.value, event.item.modRevision) : undefined,
    before: cache.get(key),
  }
}
