// MemoryStore: the driver for tests. State and history in memory, every version of the state still readable.
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
  /** The revision and content to begin with, as a snapshot gave them. */
  readonly initial?: MemorySnapshot
}

export interface MemorySnapshot {
  readonly revision: number
  readonly items: readonly KeyValue[]
  readonly leases?: readonly Lease[]
}

/** Fewer versions than a store keeps that a cluster lives on, since each holds on to its objects; of any size. */
const memoryBounds: HistoryBounds = { versionsMax: 10_000, bytesMax: Infinity }
/** How many times its bounds the history grows before it is cut: cutting costs as much as what is kept. */
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
   * Takes the place of all that is here. As after a crash the revision moves forward: what anybody has seen since stays in
   * the past, and who wants to go on from there is told that it is compacted.
   */
  restore(snapshot: MemorySnapshot): void {
    const [history, leases] = [this.#history, this.#leases]
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
    if (revision > this.revision) return Promise.reject(new FutureRevision(`revision ${revision} is not there yet`))
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

  /** All that a copy of this store needs to begin with. */
  snapshot(): MemorySnapshot {
    return { revision: this.revision, items: [...this.#history.current.state.values()], leases: this.#leases.all() }
  }

  #commit(transaction: Transaction): CommitResult {
    checkTransaction(transaction, this.#leases)
    const prepared = this.#history.prepare(transaction, this.#clock.nowMs())
    if (prepared.kind !== 'pending')
      return { kind: prepared.kind === 'refused' ? 'refused' : 'committed', revision: prepared.revision }
    const published = this.#history.publish(1)
    if (this.#history.isOverBounds(boundsSlack)) this.#history.compact(this.#history.revisionInBounds())
    // The writer's own continuation is queued before what this wakes.
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
