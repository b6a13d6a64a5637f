// LocalStore: what a store whose state is in this process can do beyond the contract. src/etcd serves etcd's API on it.
import type { OrderedMap } from '../base/collections/ordered-map.ts'
import type { Lease } from './lease-table.ts'
import type { KeyValue, LeaseId, Operation, Store } from './store.ts'
import type { RevisionEvents } from './store-version.ts'

export interface StoreState {
  readonly revision: number
  readonly state: OrderedMap<KeyValue>
}

export interface Decision<T> {
  /** Each key at most once. More than operationsMax take a revision for each operationsMax. */
  readonly operations: readonly Operation[]
  readonly result: T
}

export interface LocalStore extends Store {
  /** The oldest revision that can be read. */
  readonly compacted: number
  /** Throws Compacted and FutureRevision. */
  stateAt(revision: number): StoreState
  /** The changes from this revision on, up to the newest durable one. Throws Compacted. */
  changesSince(from: number): readonly RevisionEvents[]
  /**
   * Decides on the newest state, which includes writes that are not durable yet, and applies the operations. Resolves
   * when they, and everything that the decision has seen, are durable, and before any watcher receives them. An error of
   * `decide` changes nothing.
   */
  transact<T>(
    decide: (newest: StoreState) => Decision<T>,
    signal: AbortSignal,
  ): Promise<{ readonly revision: number; readonly result: T }>
  /** Rejects with LeaseExists if the id is in use. */
  grantLease(ttlMs: number, signal: AbortSignal, id?: LeaseId): Promise<LeaseId>
  /** The lease expires its time to live from now; undefined: there is none. Survives a crash once it has resolved. */
  renewLease(id: LeaseId, signal: AbortSignal): Promise<Lease | undefined>
  /** The leases that have not ended. */
  readonly leases: ReadonlyLeases
  /** The keys of a lease, in order. */
  keysOf(lease: LeaseId): string[]
}

export interface ReadonlyLeases {
  get(id: LeaseId): Lease | undefined
  all(): Lease[]
}
