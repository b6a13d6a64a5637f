// MemoryStore: the driver for tests. State and history in memory, every version of the state still readable.
import { Channel } from '../base/channel.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { OrderedMap, prefixEnd } from '../base/ordered-map.ts'
import { Compacted, FutureRevision } from './store.ts'
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
} from './store.ts'

interface Version {
  readonly revision: number
  readonly state: OrderedMap<KeyValue>
  readonly events: readonly StoreEvent[]
}

interface Watcher {
  /** The newest revision that was sent. */
  sent: number
  readonly prefix: string
  readonly channel: Channel<StoreBatch>
}

interface Lease {
  readonly keys: Set<string>
  readonly timer: Timer
}

/** Older versions are compacted by themselves beyond this many; a watcher that far behind must start anew. */
const versionsMax = 100_000
const watchBatchesMax = 10_000

export interface MemoryStoreOptions {
  /** The revision and content to begin with, as a snapshot gave them. */
  readonly initial?: { readonly revision: number; readonly items: readonly KeyValue[] }
}

export class MemoryStore implements Store {
  readonly #clock: Clock
  readonly #watchers = new Set<Watcher>()
  readonly #leases = new Map<LeaseId, Lease>()
  readonly #leaseOf = new Map<string, LeaseId>()
  #leaseLast = 0
  // Invariant: #versions is never empty, is ordered by revision without gaps, and its last entry is the present.
  #versions: Version[]

  constructor(clock: Clock, { initial }: MemoryStoreOptions = {}) {
    this.#clock = clock
    let state = OrderedMap.empty<KeyValue>()
    for (const item of initial?.items ?? []) state = state.set(item.key, item)
    this.#versions = [{ revision: initial?.revision ?? 1, state, events: [] }]
  }

  get revision(): number {
    return this.#present.revision
  }

  freshRevision(_signal: AbortSignal): Promise<number> {
    return Promise.resolve(this.revision)
  }

  get(key: string, _signal: AbortSignal): Promise<KeyValue | undefined> {
    return Promise.resolve(this.#present.state.get(key))
  }

  range({ start, end, limit = 0, revision }: RangeOptions, _signal: AbortSignal): Promise<RangeResult> {
    const version = this.#versionAt(revision ?? this.revision)
    if (version instanceof Error) return Promise.reject(version)
    const items: KeyValue[] = []
    for (const [, item] of version.state.range(start, end)) {
      if (limit > 0 && items.length === limit) break
      items.push(item)
    }
    const remaining = version.state.count(start, end) - items.length
    return Promise.resolve({ revision: version.revision, items, remaining })
  }

  commit(transaction: Transaction, _signal: AbortSignal): Promise<CommitResult> {
    return Promise.resolve(this.#commit(transaction))
  }

  watch({ prefix, from }: WatchOptions, signal: AbortSignal): AsyncIterable<StoreBatch> {
    const channel: Channel<StoreBatch> = new Channel(watchBatchesMax, () => this.#watchers.delete(watcher))
    const watcher: Watcher = { prefix, channel, sent: from - 1 }
    const oldest = this.#versions[0]?.revision ?? 0
    if (from <= oldest && from <= this.revision && oldest > 1) {
      channel.end(new Compacted(from, oldest))
      return channel
    }
    for (const version of this.#versions) send(watcher, version)
    this.#watchers.add(watcher)
    return channel.endWith(signal)
  }

  compact(revision: number, _signal: AbortSignal): Promise<void> {
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is not there yet`))
    const index = this.#versions.findIndex((version) => version.revision >= revision)
    this.#versions = this.#versions.slice(index)
    return Promise.resolve()
  }

  grantLease(ttlMs: number, _signal: AbortSignal): Promise<LeaseId> {
    const id = ++this.#leaseLast as LeaseId
    this.#leases.set(id, { keys: new Set(), timer: this.#clock.after(ttlMs, () => this.#endLease(id)) })
    return Promise.resolve(id)
  }

  revokeLease(lease: LeaseId, _signal: AbortSignal): Promise<void> {
    this.#endLease(lease)
    return Promise.resolve()
  }

  close(): Promise<void> {
    for (const { timer } of this.#leases.values()) timer.cancel()
    for (const { channel } of [...this.#watchers]) channel.end()
    return Promise.resolve()
  }

  /** All that a copy of this store needs to begin with. */
  snapshot(): { revision: number; items: KeyValue[] } {
    return { revision: this.revision, items: [...this.#present.state.values()] }
  }

  get #present(): Version {
    return this.#versions.at(-1) as Version
  }

  #versionAt(revision: number): Version | Error {
    const oldest = this.#versions[0]?.revision ?? 0
    if (revision > this.revision) return new FutureRevision(`revision ${revision} is not there yet`)
    if (revision < oldest) return new Compacted(revision, oldest)
    return this.#versions[revision - oldest] as Version
  }

  #commit({ conditions, operations }: Transaction): CommitResult {
    let { state } = this.#present
    for (const { key, modRevision } of conditions)
      if ((state.get(key)?.modRevision ?? 0) !== modRevision) return { kind: 'refused', revision: this.revision }
    const revision = this.revision + 1
    const events: StoreEvent[] = []
    for (const operation of operations) {
      const { key } = operation
      const previous = state.get(key)
      if (operation.kind === 'put') {
        const createRevision = previous?.createRevision ?? revision
        const item: KeyValue = { key, value: operation.value, createRevision, modRevision: revision }
        state = state.set(key, item)
        events.push({ kind: 'put', revision, item, previous })
        this.#attach(key, operation.lease)
      } else if (previous !== undefined) {
        state = state.delete(key)
        events.push({ kind: 'delete', revision, key, previous })
        this.#attach(key, undefined)
      }
    }
    if (events.length === 0) return { kind: 'committed', revision: this.revision }
    const version = { revision, state, events }
    this.#versions.push(version)
    if (this.#versions.length > versionsMax * 2) this.#versions = this.#versions.slice(-versionsMax)
    // The writer's own continuation is queued before what this wakes.
    queueMicrotask(() => {
      for (const watcher of [...this.#watchers]) send(watcher, version)
    })
    return { kind: 'committed', revision }
  }

  #attach(key: string, lease: LeaseId | undefined): void {
    const before = this.#leaseOf.get(key)
    if (before !== undefined) this.#leases.get(before)?.keys.delete(key)
    if (lease === undefined) this.#leaseOf.delete(key)
    else {
      this.#leaseOf.set(key, lease)
      this.#leases.get(lease)?.keys.add(key)
    }
  }

  #endLease(id: LeaseId): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) return
    lease.timer.cancel()
    this.#leases.delete(id)
    const operations = [...lease.keys].map((key) => ({ kind: 'delete', key }) as const)
    if (operations.length > 0) this.#commit({ conditions: [], operations })
  }
}

function send(watcher: Watcher, { revision, events }: Version): void {
  if (revision <= watcher.sent) return
  watcher.sent = revision
  const { prefix, channel } = watcher
  const end = prefixEnd(prefix)
  const wanted = events.filter((event) => {
    const key = event.kind === 'put' ? event.item.key : event.key
    return key >= prefix && (end === '' || key < end)
  })
  if (wanted.length > 0) channel.push({ revision, events: wanted })
}
