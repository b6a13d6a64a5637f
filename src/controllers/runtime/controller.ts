// The shape of every controller: a name, what it reconciles, what it owns, and a pure plan of what to change.
// Where planning would be a contortion, an explicit reconcile instead. The runtime does everything else.
import type { Context } from '../../base/observability/context.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'
import type { ServedKind } from '../../client/discovery.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { ObjectChange as Seen } from '../../client/informer/informer.ts'
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { DiscoveredKinds } from './discovered-kinds.ts'
import type { NodeRanges } from '../node-ipam/range-pool.ts'

interface ChangeBase {
  readonly of: Kind
  /** The event that tells of it, made from the object that came of it. */
  readonly tell?: (made: ApiObject) => EventNote
  /** The event that tells why it could not be done. */
  readonly failureEvent?: (error: Error) => EventNote
}

/** One thing to do, as data. */
export type Change =
  | (ChangeBase & { readonly kind: 'create'; readonly object: object })
  | (ChangeBase & {
      readonly kind: 'update'
      readonly object: ApiObject
      /** Writes through /status, which counts no generation. */
      readonly through?: 'status'
    })
  /** A strategic merge patch, on condition that the object is still the same one. */
  | (ChangeBase & { readonly kind: 'patch'; readonly object: ApiObject; readonly patch: object })
  | DeleteChange

export type DeleteChange = ChangeBase & { readonly kind: 'delete'; readonly object: ApiObject }

export interface Plan {
  readonly changes: readonly Change[]
  /** The status as it should read; undefined leaves it. */
  readonly status?: unknown
  /** The status as it should read when a change could not be made. */
  readonly statusOnFailure?: (error: Error) => unknown
  readonly events?: readonly EventNote[]
  /** Look again after this time even if nothing changes. */
  readonly requeueAfterMs?: number
  /** What the next plan for this object gets back as `kept`. It begins with nothing at every start. */
  readonly nextState?: unknown
}

/** What a plan may look at beside its object: the caches of what its controller owns and reads. */
export interface PlanView {
  readonly nowMs: number
  /** What the last plan for this object asked to keep. */
  readonly state?: unknown
  /** Objects of the kind that the planned object manages, by name; or those of another manager. */
  owned<T extends ApiObject>(kind: Kind<T, never> | Kind<T>, by?: ApiObject): readonly T[]
  find<T extends ApiObject>(kind: Kind<T>, key: ObjectKey): T | undefined
  all<T extends ApiObject>(kind: Kind<T>): readonly T[]
  within<T extends ApiObject>(kind: Kind<T>, namespace: string): readonly T[]
}

/** A kind that a plan looks at without owning it, and which keys a change of it wakes. */
export interface Watch {
  readonly kind: Kind
  enqueues(change: Seen<ApiObject>, view: Omit<PlanView, 'owned' | 'nowMs' | 'state'>): Iterable<ObjectKey>
}

export interface PlanController<T extends ApiObject = ApiObject> {
  readonly type: 'plan'
  readonly name: string
  /** The ServiceAccount of kube-system under which it acts: `deployment-controller`. */
  readonly account: string
  /** How its events name it, where that differs from the account. */
  readonly component?: string
  readonly reconciles: Kind<T>
  readonly owns: readonly Kind[]
  readonly watches?: readonly Watch[]
  /** Which objects there is anything to do for; all where it is left out. */
  concerns?(object: T): boolean
  /** Which orphans of the owned kinds it adopts; what it owns and does not claim it lets go. */
  claims?(object: T, candidate: ApiObject): boolean
  plan(object: T, view: PlanView): Plan
  /** What to delete when there is no object under the key any more; `last` is what this process saw go. */
  leftovers?(key: ObjectKey, view: Pick<PlanView, 'find'>, last: T | undefined): readonly DeleteChange[]
}

/** Groups of a watched kind's objects, kept up to date so that nobody has to search for them. */
export interface ObjectIndex<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>
  readonly name: string
  valuesOf(object: T): readonly string[]
}

/** What nodes get addresses for their pods from. */
export interface NodeRangeSettings {
  /** One for each address family; none where nodes bring their ranges. */
  readonly ranges: readonly NodeRanges[]
  /** Ranges of others: no node gets what overlaps them. */
  readonly reserved: readonly string[]
}

/** Makes the tokens that Secrets keep for ServiceAccounts. */
export interface LegacyTokenIssuer {
  issue(holder: {
    readonly namespace: string
    readonly account: { readonly name: string; readonly uid: string }
    readonly secret: string
  }): string
}

/** The account of controllers that act as the controller manager itself. */
export const managerAccount = ''

/** What the cluster hands to its controllers. */
export interface ControllerSettings {
  /** The certificate by which the API server is known; without it none is published. */
  readonly certificateAuthority?: string
  readonly nodeRanges?: NodeRangeSettings
  /** Without it nobody signs certificates here. */
  readonly signer?: CertificateSigner
  /** The longest life of what is signed; a year when left out. */
  readonly certificateLifetimeMs?: number
  /** Without it Secrets get no tokens. */
  readonly legacyTokens?: LegacyTokenIssuer
  /** How long a token kept in a Secret may go unused; a year when left out. */
  readonly legacyTokenCleanUpMs?: number
  readonly crypto?: Pick<CryptoProvider, 'hmacSha256'>
}

/** What an explicit reconcile works with. */
export interface ReconcileTools<State = unknown> {
  readonly client: Client
  readonly nowMs: number
  readonly state: State
  readonly settings: ControllerSettings
  cached<T extends ApiObject>(kind: Kind<T>, key: ObjectKey): T | undefined
  all<T extends ApiObject>(kind: Kind<T>): Iterable<T>
  byIndex<T extends ApiObject>(index: ObjectIndex<T>, value: string): readonly T[]
  /** Cached objects of any watched kind that name the uid as an owner. */
  dependents(uid: string): readonly { readonly kind: Kind; readonly object: ApiObject }[]
  tell(about: ApiObject, note: EventNote, context: Context): void
  /** The followed kinds, for controllers that follow what discovery tells of. */
  readonly discovered: Pick<DiscoveredKinds, 'kindFor' | 'resource'>
}

export interface ReconcileController<State = unknown> {
  readonly type: 'reconcile'
  readonly name: string
  readonly account: string
  readonly component?: string
  readonly watches: readonly Kind[]
  /** Which kinds of those that discovery tells of it watches too, by names, owners and the like alone. */
  readonly watchesDiscovered?: (served: ServedKind) => boolean
  readonly indexes?: readonly ObjectIndex[]
  /** What one run keeps in mind: when things were seen, when it may act again. It begins empty with every start. */
  state?(): State
  /** Which keys a change wakes. */
  enqueues(kind: Kind, change: Seen<ApiObject>, tools: ReconcileTools<State>): readonly string[]
  /** Returns after how many milliseconds to look again even if nothing changes. */
  reconcile(key: string, tools: ReconcileTools<State>, context: Context): Promise<number | undefined>
}

export type Controller = PlanController | ReconcileController

/** Checks the shape; the list of all controllers is in controllers.ts. */
export function defineController<T extends ApiObject>(definition: Omit<PlanController<T>, 'type'>): Controller
export function defineController<State>(definition: Omit<ReconcileController<State>, 'type'>): Controller
export function defineController(
  definition: Omit<PlanController, 'type'> | Omit<ReconcileController, 'type'>,
): Controller {
  return 'plan' in definition ? { type: 'plan', ...definition } : { type: 'reconcile', ...definition }
}
