// MemoryStore: the driver for tests and simulations. State and history are in memory only.
import type { Channel } from '../base/async/channel.ts'
import type { Clock } from '../base/time/clock.ts'
import { OrderedMap } from '../base/collections/ordered-map.ts'
import { History, type HistoryBounds } from './history.ts'
import { LeaseTable, type Lease } from './lease-table.ts'
import type { Decision, LocalStore, ReadonlyLeases, StoreState } from './local-store.ts'
import { FutureRevision, LeaseExists } from './store.ts'
import type {
  CommitResult,
  KeyValue,
  LeaseId,
  Operation,
  RangeOptions,
  RangeResult,
  StoreBatch,
  Transaction,
  WatchOptions,
} from './store.ts'
import { checkLeases, checkTransaction, deletionsOf, inTransactions } from './transaction.ts'
import { emptyVersion, type RevisionEvents } from './store-version.ts'

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

export class MemoryStore implements LocalStore {
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

  transact<T>(
    decide: (newest: StoreState) => Decision<T>,
    _signal: AbortSignal,
  ): Promise<{ readonly revision: number; readonly result: T }> {
    return Promise.try(() => {
      const { operations, result } = decide(this.#history.head)
      checkLeases(operations, this.#leases)
      this.#apply(operations)
      return { revision: this.revision, result }
    })
  }

  get compacted(): number {
    return this.#history.oldest.revision
  }

  stateAt(revision: number): StoreState {
    return { revision, state: this.#history.stateAt(revision) }
  }

  changesSince(from: number): readonly RevisionEvents[] {
    return this.#history.changesSince(from)
  }

  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch> {
    return this.#history.watch(options, signal)
  }

  compact(revision: number, _signal: AbortSignal): Promise<void> {
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is in the future`))
    this.#history.compact(revision)
    return Promise.resolve()
  }

  grantLease(ttlMs: number, _signal: AbortSignal, id?: LeaseId): Promise<LeaseId> {
    if (id !== undefined && this.#leases.get(id) !== undefined)
      return Promise.reject(new LeaseExists(`lease ${id} exists`))
    const lease = this.#leases.create(ttlMs, id)
    this.#leases.start(lease)
    return Promise.resolve(lease.id)
  }

  renewLease(id: LeaseId, _signal: AbortSignal): Promise<Lease | undefined> {
    const lease = this.#leases.get(id)
    if (lease === undefined) return Promise.resolve(undefined)
    const renewed = this.#leases.create(lease.ttlMs, id)
    this.#leases.start(renewed)
    return Promise.resolve(renewed)
  }

  get leases(): ReadonlyLeases {
    return this.#leases
  }

  keysOf(lease: LeaseId): string[] {
    return this.#history.keysOf(lease).toSorted()
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
    if (prepared.kind === 'conflict') return { kind: 'conflict', revision: prepared.revision }
    this.#publish()
    return { kind: 'committed', revision: this.revision }
  }

  #apply(operations: readonly Operation[]): void {
    for (const some of inTransactions(operations)) {
      this.#history.append(some, this.#clock.nowMs())
      this.#publish()
    }
  }

  #publish(): void {
    if (!this.#history.hasPending) return
    const published = this.#history.publish(1)
    if (this.#history.isOverBounds(boundsSlack)) this.#history.compact(this.#history.revisionInBounds())
    // The continuation of the writer is scheduled before those of the watchers.
    queueMicrotask(() => this.#history.notifyWatchers(published))
  }

  #endLease(id: LeaseId): void {
    if (this.#leases.get(id) === undefined) return
    this.#leases.remove(id)
    this.#apply(deletionsOf(this.keysOf(id)))
    this.#history.removeLease(id)
  }
}

const emptySnapshot: MemorySnapshot = { revision: emptyVersion.revision, items: [] }

function historyOf({ items }: MemorySnapshot, revision: number): History {
  const state = OrderedMap.from(items.map((item) => [item.key, item] as const))
  return new History({ ...emptyVersion, revision, state }, undefined, memoryBounds)
}
