// The store's contract: etcd's model over keys and bytes. One revision counter, conditional commits, ranges at a
// revision, watches from a revision, compaction, leases. It does not know API kinds. Every driver passes
// contract.suite.ts.
import type { Channel } from '../base/async/channel.ts'
import type { MaybePromise } from '../base/async/maybe-promise.ts'

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  /** The value as it was put, if the driver still has it in that form. */
  readonly lazyValue?: LazyValue
  /** The revisions at which the key was created and last changed. */
  readonly createRevision: number
  readonly modRevision: number
  /** How often the key was put since it was created. */
  readonly version: number
  /** The lease of the key, if the driver knows it. */
  readonly lease?: LeaseId | undefined
}

export interface Condition {
  readonly key: string
  /** The revision at which the key must have changed last; 0: it must not exist. */
  readonly modRevision: number
}

/** A value that is encoded on demand: a store in memory may never need its bytes. */
export interface LazyValue {
  readonly bytes: Uint8Array
  /** The source of the bytes: a driver that writes many values at once encodes them into one buffer. */
  readonly text: string
  /** The number of bytes, or any larger number than `max`. */
  bytesUpTo(max: number): number
}

export const bytesOf = (value: Uint8Array | LazyValue): Uint8Array =>
  value instanceof Uint8Array ? value : value.bytes

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: Uint8Array | LazyValue; readonly lease?: LeaseId }
  | { readonly kind: 'delete'; readonly key: string }

/** etcd's default limit for conditions and operations in one transaction. */
export const operationsMax = 128

/** etcd's default limit for the bytes of one request. */
export const transactionBytesMax = 1_572_864

/**
 * At most operationsMax of each, no key changed twice, and at most transactionBytesMax in keys and values: etcd's limits,
 * which apply to every driver.
 */
export interface Transaction {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
}

export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: number }
  /** A condition did not hold; nothing was changed. */
  | { readonly kind: 'conflict'; readonly revision: number }

export interface RangeOptions {
  readonly start: string
  /** The first key after the range; empty: no end. */
  readonly end: string
  readonly limit?: number
  /** An old revision; default: the newest. */
  readonly revision?: number
}

export interface RangeResult {
  /** The revision of the result. */
  readonly revision: number
  readonly items: readonly KeyValue[]
  /** How many keys the range has beyond the limit. */
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

/** The changes of one revision, each key at most once. Without events it reports progress up to that revision. */
export interface StoreBatch {
  readonly revision: number
  readonly events: readonly StoreEvent[]
}

export interface WatchOptions {
  readonly prefix: string
  /** The first revision to deliver. */
  readonly from: number
}

export type LeaseId = number & { readonly lease?: never }

export interface Store {
  /** The newest revision whose writes are durable and visible. */
  readonly revision: number
  /** The newest revision of the cluster: a read at this revision or later is linearizable. */
  freshRevision(signal: AbortSignal): MaybePromise<number>
  get(key: string, signal: AbortSignal): Promise<KeyValue | undefined>
  range(options: RangeOptions, signal: AbortSignal): Promise<RangeResult>
  /**
   * Atomic. Resolves when the change is durable, and before any watcher receives it. TransactionInvalid and
   * LeaseNotFound mean that nothing was changed; after any other error, an abort included, the change may or may not
   * have been applied.
   */
  commit(transaction: Transaction, signal: AbortSignal): Promise<CommitResult>
  /**
   * Delivers batches in the order of revisions without gaps; ends with Compacted when `from` is too old, or
   * ChannelOverflow.
   */
  watch(options: WatchOptions, signal: AbortSignal): Channel<StoreBatch>
  /** Removes what is needed only for revisions below this one. */
  compact(revision: number, signal: AbortSignal): Promise<void>
  /** Keys that are put with the lease are deleted when it ends. */
  grantLease(ttlMs: number, signal: AbortSignal): Promise<LeaseId>
  revokeLease(lease: LeaseId, signal: AbortSignal): Promise<void>
  /** The bytes that the database takes on the disk. Left out or undefined: it is not on a disk. */
  sizeBytes?(signal: AbortSignal): Promise<number | undefined>
  /** Whether a value that was read or written here would be encrypted with another key today. Left out: never. */
  isStale?(key: string, value: Uint8Array): boolean
  close(): Promise<void>
}

/** The requested revision has been compacted. */
export class Compacted extends Error {
  override name = 'Compacted'
  /** If the store knows it. */
  readonly oldest: number | undefined

  constructor(requested: number, oldest?: number) {
    super(`revision ${requested} has been compacted${oldest === undefined ? '' : `; the oldest is ${oldest}`}`)
    this.oldest = oldest
  }
}

/** A value that cannot be decrypted: its key is missing, or was retired after the value was replaced. */
export class ValueUnreadable extends Error {
  override name = 'ValueUnreadable'
}

/** A transaction that no driver accepts, whatever the state of the store: a bug of the caller. */
export class TransactionInvalid extends Error {
  override name = 'TransactionInvalid'
}

/** The keys and values of a transaction are larger than etcd accepts. The message is etcd's, which clients know. */
export class TransactionTooLarge extends TransactionInvalid {
  override name = 'TransactionTooLarge'

  constructor(options?: ErrorOptions) {
    super('etcdserver: request is too large', options)
  }
}

/** A put names a lease that does not exist or has expired; the key would never be deleted. */
export class LeaseNotFound extends Error {
  override name = 'LeaseNotFound'
}

/** A lease is granted with the id of another one that has not ended. */
export class LeaseExists extends Error {
  override name = 'LeaseExists'
}

/** The store accepts no writes: the disk is full or failing, or the store is closed. Reads may still work. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** The requested revision is in the future. */
export class FutureRevision extends Error {
  override name = 'FutureRevision'
}
