// EarlierKeysStore: the store of a cluster that version 0.1 has begun, with keys as upstream names them. CustomResourceDefinitions and
// APIServices keep their earlier keys there, because other servers of the cluster may still have that version.
import type { Channel } from '../../base/async/channel.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import { storedKinds } from '../../api/kinds.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  RangeOptions,
  RangeResult,
  Store,
  StoreBatch,
  StoreEvent,
  Transaction,
  WatchOptions,
} from '../../store/store.ts'
import { earlierKeyPrefix, keyPrefix } from './store-keys.ts'

interface Prefix {
  readonly now: string
  readonly earlier: string
}

const prefixes: readonly Prefix[] = storedKinds.flatMap((kind) => {
  const earlier = earlierKeyPrefix(kind)
  return earlier === undefined ? [] : [{ now: keyPrefix(kind), earlier }]
})

/** The same store, unless it has keys of version 0.1. */
export async function withEarlierKeys(store: Store, signal: AbortSignal): Promise<Store> {
  const ranges = prefixes.map(({ earlier }) => ({ start: earlier, end: prefixEnd(earlier), limit: 1 }))
  const found = await Promise.all(ranges.map((range) => store.range(range, signal)))
  return found.some(({ items }) => items.length > 0) ? new EarlierKeysStore(store) : store
}

export class EarlierKeysStore implements Store {
  readonly #inner: Store

  constructor(inner: Store) {
    this.#inner = inner
  }

  get revision(): number {
    return this.#inner.revision
  }

  freshRevision(signal: AbortSignal): MaybePromise<number> {
    return this.#inner.freshRevision(signal)
  }

  async get(key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
    const item = await this.#inner.get(toEarlier(key), signal)
    return item && itemNow(item)
  }

  /** A range is within one kind, or includes both keys of each. */
  async range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult> {
    const range = prefixes.find(({ now }) => options.start.startsWith(now))
    const { start, end } = options
    const inner = range === undefined ? options : { ...options, start: toEarlier(start), end: endOf(end, range) }
    const result = await this.#inner.range(inner, signal)
    return { ...result, items: result.items.map(itemNow) }
  }

  commit({ conditions, operations }: Transaction, signal: AbortSignal): Promise<CommitResult> {
    const earlier = <T extends { readonly key: string }>(each: T): T => ({ ...each, key: toEarlier(each.key) })
    return this.#inner.commit({ conditions: conditions.map(earlier), operations: operations.map(earlier) }, signal)
  }

  watch({ prefix, from }: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#inner
      .watch({ prefix: toEarlier(prefix), from }, signal)
      .map<StoreBatch>(({ revision, events }) => ({ revision, events: events.map(eventNow) }))
  }

  compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#inner.compact(revision, signal)
  }

  grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId> {
    return this.#inner.grantLease(ttlMs, signal)
  }

  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void> {
    return this.#inner.revokeLease(lease, signal)
  }

  async sizeBytes(signal: AbortSignal): Promise<number | undefined> {
    return this.#inner.sizeBytes?.(signal)
  }

  isStale(key: string, value: Uint8Array): boolean {
    return this.#inner.isStale?.(toEarlier(key), value) ?? false
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

function toEarlier(key: string): string {
  const prefix = prefixes.find(({ now }) => key.startsWith(now))
  return prefix === undefined ? key : prefix.earlier + key.slice(prefix.now.length)
}

function toNow(key: string): string {
  const prefix = prefixes.find(({ earlier }) => key.startsWith(earlier))
  return prefix === undefined ? key : prefix.now + key.slice(prefix.earlier.length)
}

const endOf = (end: string, { now, earlier }: Prefix): string =>
  end.startsWith(now) ? toEarlier(end) : end === prefixEnd(now) ? prefixEnd(earlier) : end

function itemNow(item: KeyValue): KeyValue {
  const key = toNow(item.key)
  return key === item.key ? item : { ...item, key }
}

function eventNow(event: StoreEvent): StoreEvent {
  const key = toNow(event.kind === 'put' ? event.item.key : event.key)
  if (event.kind === 'put') return key === event.item.key ? event : { ...event, item: { ...event.item, key } }
  return key === event.key ? event : { ...event, key }
}
