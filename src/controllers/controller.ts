// The shape of every controller: a name, what it reconciles, what it owns, and a pure plan of what to change.
// Where planning would be a contortion, an explicit reconcile instead. The runtime does everything else.
import type { Context } from '../base/context.ts'
import type { Kind } from '../api/kind.ts'
import type { ApiObject, ObjectKey } from '../api/object.ts'
import type { Client } from '../client/client.ts'
import type { EventNote } from '../client/event-recorder.ts'
import type { Change as Seen } from '../client/informer.ts'

/** One thing to do, as data. `tell` makes the event that tells of it, from the object that came of it. */
export type Change =
  | {
      readonly kind: 'create'
      readonly of: Kind
      readonly object: object
      readonly tell?: (made: ApiObject) => EventNote
    }
  | {
      readonly kind: 'update'
      readonly of: Kind
      readonly object: ApiObject
      readonly tell?: (made: ApiObject) => EventNote
    }
  | {
      readonly kind: 'delete'
      readonly of: Kind
      readonly object: ApiObject
      readonly tell?: (gone: ApiObject) => EventNote
    }

export interface Plan {
  readonly changes: readonly Change[]
  /** The status as it should read; undefined leaves it. */
  readonly status?: unknown
  readonly events?: readonly EventNote[]
  /** Look again after this time even if nothing changes. */
  readonly requeueAfterMs?: number
}

/** What a plan may look at beside its object. */
export interface PlanView {
  readonly nowMs: number
  /** Objects of the kind that the planned object manages. */
  owned<T extends ApiObject>(kind: Kind<T, never> | Kind<T>): readonly T[]
}

export interface PlanController<T extends ApiObject = ApiObject> {
  readonly type: 'plan'
  readonly name: string
  /** How its events name it: `deployment-controller`. */
  readonly component: string
  readonly reconciles: Kind<T>
  readonly owns: readonly Kind[]
  plan(object: T, view: PlanView): Plan
}

/** What an explicit reconcile works with. */
export interface ReconcileTools {
  readonly client: Client
  cached<T extends ApiObject>(kind: Kind<T>, key: ObjectKey): T | undefined
  /** Cached objects of any watched kind that name the uid as an owner. */
  dependents(uid: string): readonly { readonly kind: Kind; readonly object: ApiObject }[]
}

export interface ReconcileController {
  readonly type: 'reconcile'
  readonly name: string
  readonly component: string
  readonly watches: readonly Kind[]
  /** Which keys a change wakes. */
  wakes(kind: Kind, change: Seen<ApiObject>, tools: ReconcileTools): readonly string[]
  /** Returns after how many milliseconds to look again even if nothing changes. */
  reconcile(key: string, tools: ReconcileTools, context: Context): Promise<number | undefined>
}

export type Controller = PlanController | ReconcileController

/** Checks the shape; the list of all controllers is in controllers.ts. */
export function defineController<T extends ApiObject>(definition: Omit<PlanController<T>, 'type'>): Controller
export function defineController(definition: Omit<ReconcileController, 'type'>): Controller
export function defineController(
  definition: Omit<PlanController, 'type'> | Omit<ReconcileController, 'type'>,
): Controller {
  return 'plan' in definition ? { type: 'plan', ...definition } : { type: 'reconcile', ...definition }
}
