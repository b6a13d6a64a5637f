// Strategy: what a kind does differently from the others when it is written or deleted, and its own subresources.
// The registry does all that is common; a kind without a strategy needs none.
import type { ApiObject } from '../../api/meta/object.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { DeleteOptions } from '../../api/meta/v1/delete-options.ts'
import type { StatusDetails } from '../../api/errors/status-error.ts'
import type { Random } from '../../base/random/random.ts'
import type { User } from '../request/request.ts'
import type { Allocations } from './allocations.ts'

/** What a strategy may look at, as the caches have it, and who asks. */
export interface StrategyContext extends ObjectLister {
  readonly random: Random
  readonly nowMs: number
  readonly isDryRun: boolean
  readonly user: User
}

/** The registry's caches. */
export interface ObjectLister {
  get<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined
  /** Objects of a kind, in one namespace or in all. */
  list<T extends ApiObject>(kind: Kind<T>, namespace?: string): readonly T[]
}

export interface Strategy<T extends ApiObject = ApiObject> {
  readonly kind: Kind
  /** Last words on a new object before validation. */
  prepareCreate?(object: T, context: StrategyContext): T
  prepareUpdate?(object: T, old: T, context: StrategyContext): T
  /** What objects hold beside their own key. */
  readonly allocations?: Allocations<T>
  /** How long the object may take to end; 0 removes it at once. */
  graceSeconds?(object: T, options: Partial<DeleteOptions>): number
  /** What the object owns stays when a deletion does not say what becomes of it; a warning may tell so. */
  readonly orphansDependents?: { readonly warning?: string }
  /** DELETE answers with the object even when it is gone at once. */
  readonly returnsDeletedObject?: true
  /** There is no DELETE on the whole collection. */
  readonly hasNoDeleteCollection?: true
  /** Whether something beside metadata.finalizers still holds the object. */
  isBlocked?(object: T): boolean
  /** What deletion changes in an object that stays for a while. */
  markDeleted?(object: T): T
  /** GET, PUT and PATCH on a subresource: what of the sent object is taken over. */
  readonly subresourceUpdates?: Readonly<Record<string, PartUpdate<T>['merge']>>
  /** POST on a subresource: returns the changed object. */
  readonly subresourceActions?: Readonly<Record<string, SubresourceAction<T>['act']>>
}

/** Declared as methods, so that a strategy of pods is a strategy. */
interface PartUpdate<T> {
  merge(sent: T, old: T, context: StrategyContext): T
}

interface SubresourceAction<T> {
  act(object: T, body: unknown, nowMs: number): { readonly object: T; readonly details?: StatusDetails }
}
