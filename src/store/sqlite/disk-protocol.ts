// The messages between a store and its disk thread. The thread replies to requests in order.
import type { Lease } from '../lease-table.ts'
import type { LeaseId } from '../store.ts'
import type { PackedChanges } from './packed-changes.ts'
import type { Failure } from './store-errors.ts'

/** The worker data of the disk thread. */
export interface DiskOptions {
  readonly path: string
  readonly fileBytesMax: number
  /** Writes are on the disk before they are acknowledged. */
  readonly syncs: boolean
}

/** One database transaction: all of it becomes durable, or nothing. */
export interface WriteRequest {
  readonly kind: 'write'
  readonly changes: PackedChanges
  /** In order: the id of a lease that has ended may be granted again. */
  readonly leases: readonly LeaseChange[]
}

export type LeaseChange =
  /** Also a renewal. */
  { readonly kind: 'granted'; readonly lease: Lease } | { readonly kind: 'ended'; readonly id: LeaseId }

/** Keys of another store in any order: each gets the next free ordinal of its revision. */
export interface ImportRequest {
  readonly kind: 'import'
  readonly changes: PackedChanges
}

/** Removes the rows that become unreachable when revisions below this one are compacted. */
export interface CompactRequest {
  readonly kind: 'compact'
  readonly revision: number
  readonly revisions: Float64Array
  readonly keys: readonly string[]
}

export type DiskRequest =
  /** Acknowledges one 'loaded' message. It has no reply. */
  | { readonly kind: 'acknowledge' }
  | WriteRequest
  | ImportRequest
  | CompactRequest
  /** Sent when the store is idle: frees space and checkpoints the log. */
  | { readonly kind: 'shrink' }
  | { readonly kind: 'close' }

export type DiskReply =
  /** A part of the file's content, in the order of revisions; sent before `ready`. */
  | { readonly kind: 'loaded'; readonly changes: PackedChanges; readonly compacted: number }
  | {
      readonly kind: 'ready'
      readonly compacted: number
      readonly leases: readonly Lease[]
      readonly leaseLast: number
    }
  /** `more`: more space can be freed. */
  | { readonly kind: 'done'; readonly more: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure }
