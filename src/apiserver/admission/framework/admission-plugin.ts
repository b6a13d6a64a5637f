// The interface of admission plugins. A plugin may change an object before validation (`admit`) and reject it afterwards
// (`validate`). What a plugin handles is data, so only the plugins that handle a request are called.
import type { MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Slice, Sliced } from '../../../base/work/work-slice.ts'
import type { Cause, FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { DeleteOptions } from '../../../api/meta/v1/delete-options.ts'
import { forbidden, type StatusError } from '../../../api/errors/status-error.ts'
import type { AccessAttributes, ResourceAttributes } from '../../authorization/attributes.ts'
import type { Decision } from '../../authorization/authorizer.ts'
import type { AdmissionMetrics } from '../../metrics/admission-metrics.ts'
import type { User, Verb } from '../../request/request.ts'
import type { AdmissionRecorder } from './admission-recorder.ts'
import { metadataOf, type SubresourceObject } from './subresource-object.ts'
import type { ReinvocationContext } from './reinvocation.ts'
import type { Reservation } from './reservation.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'

export type AdmissionOperation = Extract<Verb, 'create' | 'update' | 'delete'> | 'connect'

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation
  readonly kind: Kind
  /** The version of the kind in the request's path. */
  readonly requestKind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: User
  readonly dryRun: boolean
  /** The type of `object` and `old` if it is not the kind: a Scale, a Binding, the options of a connection. */
  readonly subresourceObject: SubresourceObject | undefined
  /** The options of the write as they were sent. */
  readonly options: URLSearchParams | Partial<DeleteOptions>
  /** Undefined for a delete. */
  readonly object: ApiObject | undefined
  /** Undefined for a create. */
  readonly old: ApiObject | undefined
  readonly recorder: AdmissionRecorder
  readonly reinvocation: ReinvocationContext
  readonly signal: AbortSignal
  /** The cause of flow events that admission records. */
  readonly cause: Cause
}

/** What plugins may use of the API server: its caches, authorizers and store, but no client. */
export interface AdmissionHost extends ObjectLister {
  /** Waits until the object exists; undefined after `withinMs`. */
  waitForObject<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<T | undefined>
  /** The current version, read from the store instead of the cache. */
  readFromStore<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly object: T; readonly revision: number } | undefined>
  /** The served kind that an object or a reference names. */
  kindNamed(apiVersion: string, kindName: string): Kind | undefined
  /** All served versions of the kind, including itself. */
  versionsOf(kind: Kind): readonly Kind[]
  /** An object of a custom kind in another version of the kind. */
  convert(object: ApiObject, kind: Kind, signal: AbortSignal): MaybePromise<ApiObject>
  /** An object from the cache in the version of the kind, which may not be the stored one. */
  read(kind: Kind, namespace: string, name: string, signal: AbortSignal): MaybePromise<ApiObject | undefined>
  /** The objects of one namespace, or of all with '', in the version of the kind. */
  readAll(kind: Kind, namespace: string, signal: AbortSignal): MaybePromise<readonly ApiObject[]>
  /** Whether the authorizers allow the user the verb. */
  isAllowed(
    user: User,
    verb: string,
    on: Partial<Omit<ResourceAttributes, 'kind' | 'user' | 'verb'>>,
    signal: AbortSignal,
  ): Promise<boolean>
  /** The decision of the authorizers with its reason. */
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
  /** Records the calls of plugins, for example to webhooks. */
  readonly flow: FlowRecorder
  /** A short random suffix for names. */
  nameSuffix(): string
  nowMs(): number
  /** For durations. */
  monotonicMs(): number
  /** What plugins measure about their decisions. */
  readonly metrics: Pick<AdmissionMetrics, 'podSecurity' | 'policies'>
  /** Runs a long computation in slices. Synchronous if one suffices. */
  inSlices<T>(work: (slice: Slice) => Sliced<T>, signal: AbortSignal): MaybePromise<T>
}

export interface AdmissionScope {
  readonly operations: readonly AdmissionOperation[]
  /** Every kind if undefined. */
  readonly kinds?: readonly Kind[]
  /** Only the object itself if undefined. */
  readonly subresources?: readonly string[] | 'all'
}

export interface AdmissionPlugin {
  readonly name: string
  readonly handles: AdmissionScope
  /** Returns the object, changed or not; throws a StatusError to reject the request. */
  admit?(attributes: AdmissionAttributes, host: AdmissionHost): ApiObject | undefined | Promise<ApiObject | undefined>
  /** Throws a StatusError to reject the request. */
  validate?(attributes: AdmissionAttributes, host: AdmissionHost): void | Promise<void>
  /** Writes that are added to the commit of the object; throws a StatusError to reject it. Called again after a conflict. */
  reserve?(attributes: AdmissionAttributes, host: AdmissionHost): Promise<readonly Reservation[]> | undefined
}

export const defineAdmissionPlugin = (plugin: AdmissionPlugin): AdmissionPlugin => plugin

/** The 403 with which a plugin rejects the request's object. */
export const admissionForbidden = ({ kind, object, name }: AdmissionAttributes, detail: string): StatusError =>
  forbidden(kind, metadataOf(object).name ?? name, detail)
