// Strategy: what a kind does differently from the others when it is written or deleted. A kind that does nothing
// differently has none.
import type { ApiObject } from '../../../api/meta/object.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { DeleteOptions } from '../../../api/meta/v1/delete-options.ts'
import type { StatusDetails } from '../../../api/errors/status-error.ts'
import type { Random } from '../../../base/random/random.ts'
import type { User } from '../../request/request.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import type { Allocations } from './allocations.ts'
import { type Int64 } from '../../../schema/scalar/int64.ts'

/** What a strategy may use: the caches, the time, and the user of the request. */
export interface StrategyContext extends ObjectLister {
  readonly random: Random
  readonly nowMs: number
  readonly isDryRun: boolean
  readonly user: User
}

export interface Strategy<T extends ApiObject = ApiObject> {
  readonly kind: Kind
  /** Completes a new object before validation. */
  prepareCreate?(object: T, context: StrategyContext): T
  prepareUpdate?(object: T, old: T, context: StrategyContext): T
  /** Completes an update of the status. */
  prepareStatusUpdate?(object: T, old: T, context: StrategyContext): T
  /** What objects allocate: addresses, ports. */
  readonly allocations?: Allocations<T>
  /** The grace period of a deletion; 0 removes the object immediately. */
  graceSeconds?(object: T, options: Partial<DeleteOptions>): Int64
  /** Dependents are orphaned unless a deletion names a propagation policy; clients may get a warning. */
  readonly orphansDependents?: { readonly warning?: string }
  /** DELETE returns the object even where it is removed immediately. */
  readonly returnsDeletedObject?: true
  /** The kind has no deletecollection. */
  readonly hasNoDeleteCollection?: true
  /** Whether the removal is blocked by something besides metadata.finalizers. */
  isBlocked?(object: T): boolean
  /** A deletion does not count as a change of the object: it keeps its generation. */
  readonly keepsGenerationOnDelete?: true
  /** Changes an object that is marked for deletion. */
  markDeleted?(object: T): T
  /** GET, PUT and PATCH on a subresource: merges what was sent into the object. */
  readonly subresourceUpdates?: Readonly<Record<string, SubresourceUpdate<T>['merge']>>
  /** Those of them that can be updated, but neither read nor patched. */
  readonly updateOnlySubresources?: readonly string[]
  /** POST on a subresource: returns the changed object. */
  readonly subresourceActions?: Readonly<Record<string, SubresourceAction<T>['act']>>
}

/** Declared as methods, so that a Strategy<Pod> is assignable to Strategy. */
interface SubresourceUpdate<T> {
  merge(sent: T, old: T, context: StrategyContext): T
}

interface SubresourceAction<T> {
  act(object: T, body: unknown, nowMs: number): { readonly object: T; readonly details?: StatusDetails }
}
