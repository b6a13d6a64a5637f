// The messages between a store and its disk thread. The thread answers requests in order.
import type { Lease } from '../lease-table.ts'
import type { LeaseId } from '../store.ts'
import type { PackedChanges } from './packed-changes.ts'
import type { Failure } from './store-errors.ts'

/** What the disk thread starts with. */
export interface DiskOptions {
  readonly path: string
  readonly fileBytesMax: number
}

/** One transaction on disk: all of it is durable, or nothing. */
export interface WriteRequest {
  readonly kind: 'write'
  readonly changes: PackedChanges
  readonly granted: readonly Lease[]
  readonly ended: readonly LeaseId[]
}

/** Removes rows that nobody can reach any more once revisions below this one are forgotten. */
export interface CompactRequest {
  readonly kind: 'compact'
  readonly revision: number
  readonly revisions: Float64Array
  readonly keys: readonly string[]
}

export type DiskRequest =
  /** One piece of what was loaded has been taken in. It is not answered. */
  | { readonly kind: 'taken' }
  | WriteRequest
  | CompactRequest
  /** Nothing is going on: space is given back and the log is folded into the file. */
  | { readonly kind: 'rest' }
  | { readonly kind: 'close' }

export type DiskReply =
  /** Some of what the file holds, in the order of revisions; sent before `ready`. */
  | { readonly kind: 'loaded'; readonly changes: PackedChanges; readonly compacted: number }
  | {
      readonly kind: 'ready'
      readonly compacted: number
      readonly leases: readonly Lease[]
      readonly leaseLast: number
    }
  /** `more`: there is space left to give back. */
  | { readonly kind: 'done'; readonly more: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure }
