// The definition of a controller: its name, the kinds that it reconciles, owns and watches, and a pure plan of changes,
// or an explicit reconcile where a plan does not fit. The rest is the runtime's.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Backoff } from '../../base/work/work-queue.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import type { ServedKind } from '../../client/discovery.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { ObjectChange as Seen } from '../../client/informer/informer.ts'
import type { ControllerFamilies } from '../metrics/controller-families.ts'
import type { ControllerSettings } from './controller-settings.ts'
import type { DiscoveredKinds } from './discovered-kinds.ts'

interface ChangeBase {
  readonly of: Kind
  /** The event to record when the change succeeds, made from the written object. */
  readonly event?: (written: ApiObject) => EventNote
  /** The event to record when the change fails. */
  readonly failureEvent?: (error: Error) => EventNote
}

/** One write, as data. */
export type Change =
  | (ChangeBase & { readonly kind: 'create'; readonly object: object })
  | (ChangeBase & {
      readonly kind: 'update'
      readonly object: ApiObject
      /** Writes through /status, which does not increment the generation. */
      readonly through?: 'status'
    })
  /** A strategic merge patch, with the uid as a precondition. */
  | (ChangeBase & { readonly kind: 'patch'; readonly object: ApiObject; readonly patch: object })
  | DeleteChange

export type DeleteChange = ChangeBase & { readonly kind: 'delete'; readonly object: ApiObject }

export interface Plan {
  readonly changes: readonly Change[]
  /** The desired status; undefined leaves it unchanged. */
  readonly status?: unknown
  /** The desired status when a change fails. */
  readonly statusOnFailure?: (error: Error) => unknown
  readonly events?: readonly EventNote[]
  /** Requeues the object after this time even if nothing changes. */
  readonly requeueAfterMs?: number
  /** Passed to the next plan for this object as `state`. It is not persisted. */
  readonly nextState?: unknown
  /** What the metrics need of the plan, for `measure`. */
  readonly measured?: unknown
}

/** A plan that was applied to its object. */
export interface AppliedPlan<T extends ApiObject = ApiObject> {
  readonly object: T
  readonly plan: Plan
  /** Why a write failed; undefined where all succeeded. */
  readonly failure?: Error
  /** How many creates succeeded and failed. */
  readonly creates: { readonly succeeded: number; readonly failed: number }
  /** Whether the object has the status of the plan now. */
  readonly hasStatus: boolean
  readonly nowMs: number
  readonly seconds: number
}

/** What a plan may read besides its object: the caches of the kinds that its controller owns and watches. */
export interface PlanView {
  readonly nowMs: number
  /** The `nextState` of the last plan for this object. */
  readonly state?: unknown
  /** Objects of the kind that the planned object controls, sorted by name; or those of another owner. */
  owned<T extends ApiObject>(kind: Kind<T, never> | Kind<T>, by?: ApiObject): readonly T[]
  find<T extends ApiObject>(kind: Kind<T>, key: ObjectKey): T | undefined
  all<T extends ApiObject>(kind: Kind<T>): readonly T[]
  within<T extends ApiObject>(kind: Kind<T>, namespace: string): readonly T[]
  byIndex<T extends ApiObject>(index: ObjectIndex<T>, value: string): readonly T[]
}

/** A kind that a plan reads without owning it, and the keys that a change of it enqueues. */
export interface Watch {
  readonly kind: Kind
  enqueues(change: Seen<ApiObject>, view: Omit<PlanView, 'owned' | 'nowMs' | 'state'>): Iterable<ObjectKey>
}

export interface PlanController<T extends ApiObject = ApiObject> {
  readonly type: 'plan'
  readonly name: string
  /** The ServiceAccount in kube-system that it uses: `deployment-controller`. */
  readonly account: string
  /** The source component of its events, where it differs from the account. */
  readonly component?: string
  readonly reconciles: Kind<T>
  readonly owns: readonly Kind[]
  readonly watches?: readonly Watch[]
  readonly indexes?: readonly ObjectIndex[]
  /** Whether the object has to be reconciled; all are where it is left out. */
  concerns?(object: T): boolean
  /** Whether an orphan is adopted. An owned object for which this is false is released. */
  claims?(object: T, candidate: ApiObject): boolean
  plan(object: T, view: PlanView): Plan
  /** Updates the metrics of the controller after a plan was applied, or after it failed. */
  measure?(applied: AppliedPlan<T>, metrics: ControllerFamilies): void
  /** Counts a reconcile that was put off because a cache does not have the controller's own writes yet. */
  measureStale?(metrics: ControllerFamilies): void
  /** Updates the metrics of the controller after an object was deleted. */
  measureDeletion?(key: ObjectKey, metrics: ControllerFamilies): void
  /** What to delete when the object no longer exists; `last` is its last version, if this process has seen it. */
  leftovers?(key: ObjectKey, view: Pick<PlanView, 'find'>, last: T | undefined): readonly DeleteChange[]
}

/** An index of a watched kind's objects. */
export interface ObjectIndex<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>
  readonly name: string
  valuesOf(object: T): readonly string[]
}

/** The account of controllers that use the identity of the controller manager. */
export const managerAccount = ''

/** The dependencies of an explicit reconcile. */
export interface ReconcileTools<State = unknown> {
  readonly client: Client
  readonly nowMs: number
  readonly state: State
  readonly settings: ControllerSettings
  readonly metrics: ControllerFamilies
  /** For durations. */
  readonly monotonicMs: number
  cached<T extends ApiObject>(kind: Kind<T>, key: ObjectKey): T | undefined
  all<T extends ApiObject>(kind: Kind<T>): Iterable<T>
  byIndex<T extends ApiObject>(index: ObjectIndex<T>, value: string): readonly T[]
  /** Cached objects of all watched kinds with an owner reference to the uid. */
  dependents(uid: string): readonly { readonly kind: Kind; readonly object: ApiObject }[]
  recordEvent(about: ApiObject, note: EventNote, context: Context): void
  /** Lets other work run if the controllers have used up their time in this turn of the event loop. */
  pause(): MaybePromise<void>
  /** Enqueues another key, such as one that was found in the state of the cluster when the controller started. */
  enqueue(key: string, context: Context): void
  /** The kinds found by discovery, for controllers with `watchesDiscovered`. */
  readonly discovered: Pick<DiscoveredKinds, 'kindFor' | 'resource'>
}

export interface ReconcileController<State = unknown> {
  readonly type: 'reconcile'
  readonly name: string
  readonly account: string
  readonly component?: string
  readonly watches: readonly Kind[]
  /** How many keys are reconciled at a time, where the usual number is too small. */
  readonly workers?: number
  /** How long failed keys wait, where the usual backoff is too short. */
  readonly backoff?: Backoff
  /** Which kinds found by discovery it also watches; only their metadata is read. */
  readonly watchesDiscovered?: (served: ServedKind) => boolean
  /** Updates the metrics of the controller after a discovery failed, or a discovered kind could not be listed in time. */
  measureDiscoveryFailure?(metrics: ControllerFamilies): void
  readonly indexes?: readonly ObjectIndex[]
  /** The initial state of a run, such as when nodes were last seen. It is not persisted. */
  state?(): State
  /** The kind whose keys are reconciled, if they are keys of objects. */
  readonly reconciles?: Kind
  /**
   * Keys are processed once in this time, the first time after it has passed; at once and on changes when left out. A
   * run is not an effect of the run before.
   */
  periodMs?(settings: ControllerSettings): number
  /** The keys that a change enqueues. */
  enqueues(kind: Kind, change: Seen<ApiObject>, tools: ReconcileTools<State>): readonly string[]
  /** Returns after how many milliseconds the key is requeued even if nothing changes. */
  reconcile(key: string, tools: ReconcileTools<State>, context: Context): Promise<number | undefined>
}

export type Controller = PlanController | ReconcileController

/** Checks the definition's type. The list of all controllers is controllers.ts. */
export function defineController<T extends ApiObject>(definition: Omit<PlanController<T>, 'type'>): Controller
export function defineController<State>(definition: Omit<ReconcileController<State>, 'type'>): Controller
export function defineController(
  definition: Omit<PlanController, 'type'> | Omit<ReconcileController, 'type'>,
): Controller {
  return 'plan' in definition ? { type: 'plan', ...definition } : { type: 'reconcile', ...definition }
}
