// MemoryStore: the driver for tests and simulations. State and history are in memory only.
import type { Channel } from '../base/async/channel.ts'
import type { Clock } from '../base/time/clock.ts'
import { OrderedMap } from '../base/collections/ordered-map.ts'
import { History, type HistoryBounds } from './history.ts'
import { LeaseTable, type Lease } from './lease-table.ts'
import { FutureRevision } from './store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  RangeOptions,
  RangeResult,
  Store,
  StoreBatch,
  Transaction,
  WatchOptions,
} from './store.ts'
import { checkTransaction, deletionsOf } from './transaction.ts'
import { emptyVersion } from './store-version.ts'

export interface MemoryStoreOptions {
  /** The initial content, from snapshot(). */
  readonly initial?: MemorySnapshot
}

export interface MemorySnapshot {
  readonly revision: number
  readonly items: readonly KeyValue[]
  readonly leases?: readonly Lease[]
}

/** Not bounded by bytes, so that values stay unencoded. */
const memoryBounds: HistoryBounds = { versionsMax: 10_000, bytesMax: Infinity }
/**
 * The factor by which the history may exceed its bounds before it is compacted: compaction costs as much as what
 * remains.
 */
const boundsSlack = 2

export class MemoryStore implements Store {
  readonly #clock: Clock
  #history: History
  #leases: LeaseTable

  constructor(clock: Clock, { initial = emptySnapshot }: MemoryStoreOptions = {}) {
    this.#clock = clock
    this.#history = historyOf(initial, initial.revision)
    this.#leases = this.#leasesOf(initial)
  }

  /**
   * Replaces the whole content. As after a crash, the revision moves forward: watches from earlier revisions end with
   * Compacted.
   */
  restore(snapshot: MemorySnapshot): void {
    const history = this.#history
    const leases = this.#leases
    this.#history = historyOf(snapshot, history.current.revision + 1)
    this.#leases = this.#leasesOf(snapshot)
    leases.close()
    history.close()
  }

  #leasesOf({ leases = [] }: MemorySnapshot): LeaseTable {
    const last = leases.reduce((max, { id }) => Math.max(max, id), 0)
    const table = new LeaseTable(this.#clock, ({ id }) => this.#endLease(id), last)
    for (const lease of leases) table.start(lease)
    return table
  }

  get revision(): number {
    return this.#history.current.revision
  }

  freshRevision(_signal: AbortSignal): number {
    return this.revision
  }

  get(key: string, _signal: AbortSignal): Promise<KeyValue | undefined> {
    return Promise.resolve(this.#history.get(key))
  }

  range(options: RangeOptions, _signal: AbortSignal): Promise<RangeResult> {
    return Promise.try(() => this.#history.range(options))
  }

  commit(transaction: Transaction, _signal: AbortSignal): Promise<CommitResult> {
    return Promise.try(() => this.#commit(transaction))
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#history.watch(options, signal)
  }

  compact(revision: number, _signal: AbortSignal): Promise<void> {
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is in the future`))
    this.#history.compact(revision)
    return Promise.resolve()
  }

  grantLease(ttlMs: number, _signal: AbortSignal): Promise<LeaseId> {
    const lease = this.#leases.create(ttlMs)
    this.#leases.start(lease)
    return Promise.resolve(lease.id)
  }

  revokeLease(lease: LeaseId, _signal: AbortSignal): Promise<void> {
    this.#endLease(lease)
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.#leases.close()
    this.#history.close()
    return Promise.resolve()
  }

  /** The initial content for a copy of this store. */
  snapshot(): MemorySnapshot {
    return { revision: this.revision, items: [...this.#history.current.state.values()], leases: this.#leases.all() }
  }

  #commit(transaction: Transaction): CommitResult {
    checkTransaction(transaction, this.#leases)
    const prepared = this.#history.prepare(transaction, this.#clock.nowMs())
    if (prepared.kind !== 'pending')
      return { kind: prepared.kind === 'conflict' ? 'conflict' : 'committed', revision: prepared.revision }
    const published = this.#history.publish(1)
    if (this.#history.isOverBounds(boundsSlack)) this.#history.compact(this.#history.revisionInBounds())
    // The continuation of the writer is scheduled before those of the watchers.
    queueMicrotask(() => this.#history.notifyWatchers(published))
    return { kind: 'committed', revision: prepared.version.revision }
  }

  #endLease(id: LeaseId): void {
    if (this.#leases.get(id) === undefined) return
    this.#leases.remove(id)
    for (const transaction of deletionsOf(this.#history.keysOf(id))) this.#commit(transaction)
    this.#history.removeLease(id)
  }
}

const emptySnapshot: MemorySnapshot = { revision: emptyVersion.revision, items: [] }

function historyOf({ items }: MemorySnapshot, revision: number): History {
  const state = OrderedMap.from(items.map((item) => [item.key, item] as const))
  return new History({ ...emptyVersion, revision, state }, undefined, memoryBounds)
}
