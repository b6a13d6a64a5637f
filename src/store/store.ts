// The store's contract: etcd's model over keys and bytes. One revision counter; conditional commits; ranges at a
// revision; watches from a revision; compaction; leases. It knows no kinds. Every driver passes contract.suite.ts.
import type { Channel } from '../base/async/channel.ts'
import type { MaybePromise } from '../base/async/maybe-promise.ts'

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** What was put, where the driver still has it as it came. */
  readonly lazyValue?: LazyValue
  /** The revision at which the key came into being, and at which it last changed. */
  readonly createRevision: number
  readonly modRevision: number
  /** The lease that the key goes with, where the driver tells. */
  readonly lease?: LeaseId | undefined
}

export interface Condition {
  readonly key: string
  /** The key must last have changed at this revision; 0: it must not exist. */
  readonly modRevision: number
}

/** A value that becomes bytes when they are asked for: what stays in memory need not be encoded. */
export interface LazyValue {
  readonly bytes: Uint8Array
  /** What the bytes are made from: who writes many values at once needs no bytes of each. */
  readonly text: string
}

export const bytesOf = (value: Uint8Array | LazyValue): Uint8Array =>
  value instanceof Uint8Array ? value : value.bytes

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: Uint8Array | LazyValue; readonly lease?: LeaseId }
  | { readonly kind: 'delete'; readonly key: string }

/** As many conditions and operations as etcd takes in one transaction unless told otherwise. */
export const operationsMax = 128

/** At most operationsMax of each, and no key changed twice: what etcd takes, so that every driver takes the same. */
export interface Transaction {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: number }
  /** A condition did not hold: nothing was changed. */
  | { readonly kind: 'refused'; readonly revision: number }

export interface RangeOptions {
  readonly start: string
  /** The first key that is not in the range; empty: no end. */
  readonly end: string
  readonly limit?: number
  /** An old revision; the newest when left out. */
  readonly revision?: number
}

export interface RangeResult {
  /** The revision at which the answer is true. */
  readonly revision: number
  readonly items: readonly KeyValue[]
  /** How many keys the range holds beyond the limit. */
  readonly remaining: number
}

export type StoreEvent =
  | {
      readonly kind: 'put'
      readonly revision: number
      readonly item: KeyValue
      readonly previous: KeyValue | undefined
    }
  | { readonly kind: 'delete'; readonly revision: number; readonly key: string; readonly previous: KeyValue }

/** What changed at this revision, each key at most once; without events it is a sign of progress up to it. */
export interface StoreBatch {
  readonly revision: number
  readonly events: readonly StoreEvent[]
}

export interface WatchOptions {
  readonly prefix: string
  /** The first revision of interest. */
  readonly from: number
}

export type LeaseId = number & { readonly lease?: never }

export interface Store {
  /** The newest revision whose writes are durable and visible. */
  readonly revision: number
  /** The newest revision of all, asked of whoever decides it: a read at or beyond it is fresh. */
  freshRevision(signal: AbortSignal): MaybePromise<number>
  get(key: string, signal: AbortSignal): Promise<KeyValue | undefined>
  range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult>
  /**
   * All or nothing; resolved once the change is durable, and before any watcher hears of it. Rejected: TransactionInvalid
   * and LeaseNotFound changed nothing; after any other error, an abort included, the change may or may not be there.
   */
  commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult>
  /** Batches in the order of revisions, none missing; ends with Compacted when `from` is too old, or ChannelOverflow. */
  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch>
  /** Forgets what is needed only for revisions below this one. */
  compact(revision: number, signal: AbortSignal): Promise<void>
  /** Keys put with the lease go when it ends. */
  grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId>
  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void>
  /** Whether a value that was read or written here would be encrypted with another key today; never where it is left out. */
  isStale?(key: string, value: Uint8Array): boolean
  close(): Promise<void>
}

/** The revision asked for has been compacted away. */
export class Compacted extends Error {
  override name = 'Compacted'
  /** Where the store knows it. */
  readonly oldest: number | undefined

  constructor(requested: number, oldest?: number) {
    super(`revision ${requested} has been compacted${oldest === undefined ? '' : `; the oldest is ${oldest}`}`)
    this.oldest = oldest
  }
}

/** A transaction that no driver takes, whatever the state of the store: a bug of its writer. */
export class TransactionInvalid extends Error {
  override name = 'TransactionInvalid'
}

/** A put names a lease that was never granted or has ended: the key would stay for ever. */
export class LeaseNotFound extends Error {
  override name = 'LeaseNotFound'
}

/** The store takes no writes at present: the disk is full or fails, or the store is closed. Reads may still work. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** The revision asked for lies in the future. */
export class FutureRevision extends Error {
  override name = 'FutureRevision'
}
