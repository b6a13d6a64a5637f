// History: the versions of a store, in memory. Durable versions are visible to readers and watchers. Pending versions
// are visible only to the conditions of later writes, until they are published or discarded. The memory and SQLite
// drivers use it.
import type { Channel } from '../base/async/channel.ts'
import { assert } from '../base/assert.ts'
import type { OrderedMap } from '../base/collections/ordered-map.ts'
import { LeasedKeys } from './leased-keys.ts'
import { Compacted, FutureRevision } from './store.ts'
import type {
  KeyValue,
  LeaseId,
  Operation,
  RangeOptions,
  RangeResult,
  StoreBatch,
  StoreEvent,
  Transaction,
  WatchOptions,
} from './store.ts'
import { sizeOfEvents, emptyVersion, keyOf, successor, type RevisionEvents, type Version } from './store-version.ts'
import { failedWatch, Watchers } from './watchers.ts'

/** Older versions are compacted automatically beyond these bounds; a watcher that is that far behind must relist. */
export const historyBounds: HistoryBounds = { versionsMax: 10_000, bytesMax: 256 * 1024 * 1024 }

export interface HistoryBounds {
  readonly versionsMax: number
  readonly bytesMax: number
}

export type Prepared =
  | { readonly kind: 'conflict'; readonly revision: number }
  | { readonly kind: 'unchanged'; readonly revision: number }
  | { readonly kind: 'pending'; readonly version: Version }

/** A superseded value: the key and the revision at which it was written. */
export interface Superseded {
  readonly revision: number
  readonly key: string
}

export class History {
  // Invariant: never empty, ordered by revision without gaps, and the last entry led to the current state. Earlier
  // states are computed on request: they are rarely read, and retained trees use much memory.
  #revisions: RevisionEvents[]
  #current: Version
  /** The state that was computed last: reads of the past are usually followed by reads of the same revision. */
  #cachedState: { readonly revision: number; readonly state: OrderedMap<KeyValue> } | undefined
  // Invariant: continues #revisions without a gap.
  #pending: Version[] = []
  #bytes: number
  // Invariant: the sizes of #revisions, stored because the bytes of an old version may no longer be available.
  #sizes: number[]
  readonly #watchers = new Watchers()
  readonly #leased = new LeasedKeys()

  readonly #bounds: HistoryBounds

  /** `steps` are the events that led to the current version, oldest first, its own last. */
  constructor(
    current: Version = emptyVersion,
    steps: readonly RevisionEvents[] = [eventsOnly(current)],
    bounds = historyBounds,
  ) {
    this.#bounds = bounds
    assert(steps.at(-1)?.revision === current.revision, 'the last step led to the current version')
    this.#current = current
    for (const { key, lease } of current.state.values()) if (lease !== undefined) this.#leased.add(key, lease)
    this.#revisions = steps.map(eventsOnly)
    this.#sizes = steps.map((step) => this.#sizeOf(step))
    this.#bytes = this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /** The newest durable version. */
  get current(): Version {
    return this.#current
  }

  get oldest(): RevisionEvents {
    return this.#revisions[0] as RevisionEvents
  }

  /** The version that the next write is based on. */
  get head(): Version {
    return this.#pending.at(-1) ?? this.current
  }

  get hasPending(): boolean {
    return this.#pending.length > 0
  }

  /** The number of versions that can be read. */
  get length(): number {
    return this.#revisions.length
  }

  /** Whether the history exceeds its bounds by this factor. */
  isOverBounds(times: number): boolean {
    const { length } = this.#revisions
    const { versionsMax, bytesMax } = this.#bounds
    return length > versionsMax * times || (length > 1 && this.#bytes > bytesMax * times)
  }

  get(key: string): KeyValue | undefined {
    return this.current.state.get(key)
  }

  range({ start, end, limit = 0, revision }: RangeOptions): RangeResult {
    const requested = revision ?? this.current.revision
    const state = this.stateAt(requested)
    const items: KeyValue[] = []
    for (const [, item] of state.range(start, end)) {
      if (limit > 0 && items.length === limit) break
      items.push(item)
    }
    const remaining = limit > 0 ? state.count(start, end) - items.length : 0
    return { revision: requested, items, remaining }
  }

  watch({ prefix, from }: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    try {
      return this.#watchers.add(prefix, from, this.changesSince(from), signal)
    } catch (error) {
      return failedWatch(error as Compacted)
    }
  }

  /** The changes from this revision on, up to the newest durable one. */
  changesSince(from: number): readonly RevisionEvents[] {
    const oldest = this.oldest.revision
    // The empty store at revision 1 has no history that could be missed.
    if (from <= oldest && oldest > emptyVersion.revision) throw new Compacted(from, oldest)
    return this.#revisions.slice(Math.max(1, from - oldest))
  }

  /** Checks the conditions against all pending writes and, if they hold, adds the change to them. */
  prepare({ conditions, operations }: Transaction, nowMs: number): Prepared {
    const { head } = this
    for (const { key, modRevision } of conditions)
      if ((head.state.get(key)?.modRevision ?? 0) !== modRevision) return { kind: 'conflict', revision: head.revision }
    return this.append(operations, nowMs)
  }

  /** Adds a change to the pending writes. */
  append(operations: readonly Operation[], nowMs: number): Exclude<Prepared, { kind: 'conflict' }> {
    const { head } = this
    // A wall clock that is set back must not make a version older than its predecessor.
    const version = successor(head, operations, Math.max(nowMs, head.atMs))
    if (version === head) return { kind: 'unchanged', revision: head.revision }
    for (const operation of operations)
      if (operation.kind === 'put' && operation.lease !== undefined) this.#leased.add(operation.key, operation.lease)
    this.#pending.push(version)
    return { kind: 'pending', version }
  }

  /** Makes the first `count` pending versions visible. The caller notifies the watchers after the writers. */
  publish(count: number): readonly Version[] {
    assert(count <= this.#pending.length, `${count} versions to publish, ${this.#pending.length} pending`)
    const published = count === this.#pending.length ? this.#pending : this.#pending.slice(0, count)
    this.#pending = count === this.#pending.length ? [] : this.#pending.slice(count)
    const head = (this.#pending.at(-1) ?? published.at(-1))?.state
    for (const version of published) {
      for (const event of version.events) this.#updateLease(event, head)
      const size = this.#sizeOf(version)
      this.#revisions.push(eventsOnly(version))
      this.#current = version
      this.#sizes.push(size)
      this.#bytes += size
    }
    return published
  }

  /** Removes a key from the index of its former lease, unless a pending write has put it with that lease again. */
  #updateLease(event: StoreEvent, head: OrderedMap<KeyValue> | undefined): void {
    const key = keyOf(event)
    const lease = event.kind === 'put' ? event.item.lease : undefined
    // A write that was pending may have been removed by the one before it.
    if (lease !== undefined) this.#leased.add(key, lease)
    const former = event.previous?.lease
    if (former !== undefined && former !== lease && former !== head?.get(key)?.lease)
      this.#leased.removeKey(key, former)
  }

  /** The number of keys that are indexed by lease. */
  get leasedKeys(): number {
    return this.#leased.size
  }

  discardPending(): void {
    this.#pending = []
  }

  /** The keys of a lease, pending writes included. */
  keysOf(lease: LeaseId): string[] {
    return this.#leased.keysOf(lease, this.head.state)
  }

  /** Called when no key uses the lease and none will. */
  removeLease(lease: LeaseId): void {
    this.#leased.remove(lease)
  }

  notifyWatchers(versions: readonly Version[]): void {
    for (const version of versions) this.#watchers.notify(version)
  }

  /** The newest revision that was written before this time, or the oldest one. */
  revisionBefore(ms: number): number {
    let low = 0
    let high = this.#revisions.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#revisions[middle] as RevisionEvents).atMs < ms) low = middle
      else high = middle - 1
    }
    return this.oldest.revision + low
  }

  /** The oldest revision that may stay within the bounds. */
  revisionInBounds(): number {
    const { versionsMax, bytesMax } = this.#bounds
    let index = 0
    let bytes = this.#bytes
    while (this.#revisions.length - index > versionsMax || bytes > bytesMax) {
      if (index === this.#revisions.length - 1) break
      bytes -= this.#sizes[index++] as number
    }
    return this.oldest.revision + index
  }

  /**
   * The rows that compact(revision) makes unreachable: values that were overwritten or deleted up to it, and the
   * deletions.
   */
  superseded(revision: number): Superseded[] {
    const superseded: Superseded[] = []
    for (const version of this.#revisions.slice(1, revision - this.oldest.revision + 1))
      for (const event of version.events) {
        const key = keyOf(event)
        if (event.previous !== undefined) superseded.push({ revision: event.previous.modRevision, key })
        if (event.kind === 'delete') superseded.push({ revision: event.revision, key })
      }
    return superseded
  }

  /** Removes the versions below this revision. */
  compact(revision: number): void {
    if (revision <= this.oldest.revision) return
    this.#check(revision)
    const index = revision - this.oldest.revision
    if (this.#cachedState !== undefined && this.#cachedState.revision < revision) this.#cachedState = undefined
    for (let removed = 0; removed < index; removed++) this.#bytes -= this.#sizes[removed] as number
    this.#revisions = this.#revisions.slice(index)
    this.#sizes = this.#sizes.slice(index)
  }

  close(): void {
    this.#watchers.endAll()
  }

  // Without a bound, sizes are not computed, so that lazy values stay unencoded.
  #sizeOf(step: RevisionEvents): number {
    return this.#bounds.bytesMax === Infinity ? 0 : sizeOfEvents(step)
  }

  #check(revision: number): void {
    const oldest = this.oldest.revision
    if (revision > this.current.revision) throw new FutureRevision(`revision ${revision} is in the future`)
    if (revision < oldest) throw new Compacted(revision, oldest)
  }

  /** The state at a revision: the current one with every later change undone. */
  stateAt(revision: number): OrderedMap<KeyValue> {
    this.#check(revision)
    if (revision === this.current.revision) return this.current.state
    const known = this.#cachedState
    let { state, revision: at } = known !== undefined && known.revision >= revision ? known : this.current
    for (const oldest = this.oldest.revision; at > revision; at--)
      for (const event of (this.#revisions[at - oldest] as RevisionEvents).events.toReversed())
        state = state.with(keyOf(event), event.previous)
    this.#cachedState = { revision, state }
    return state
  }
}

const eventsOnly = ({ revision, atMs, events }: RevisionEvents): RevisionEvents => ({ revision, atMs, events })
