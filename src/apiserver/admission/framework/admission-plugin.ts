// Admission: is it acceptable? A plugin may change an object before it is validated (`admit`), and refuse it after
// (`validate`). What a plugin handles is data, so that a request asks only those whom it concerns.
import type { Cause, FlowRecorder } from '../../../base/observability/flow-recorder.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { DeleteOptions } from '../../../api/meta/v1/delete-options.ts'
import { forbidden, type StatusError } from '../../../api/errors/status-error.ts'
import type { AccessAttributes, ResourceAttributes } from '../../authorization/attributes.ts'
import type { Decision } from '../../authorization/authorizer.ts'
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
  /** The version of the kind that the request speaks. */
  readonly requestKind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: User
  readonly dryRun: boolean
  /** What `object` and `old` are, where they are not of the kind: a Scale, a Binding, the options of a connection. */
  readonly subresourceObject: SubresourceObject | undefined
  /** The options of the write, as they were sent. */
  readonly options: URLSearchParams | Partial<DeleteOptions>
  /** Absent when an object is deleted. */
  readonly object: ApiObject | undefined
  /** Absent when an object is created. */
  readonly old: ApiObject | undefined
  readonly recorder: AdmissionRecorder
  readonly reinvocation: ReinvocationContext
  readonly signal: AbortSignal
  /** The call that is judged, for what is recorded of it. */
  readonly cause: Cause
}

/** What plugins may ask of the server: the registry's caches, never a client. */
export interface AdmissionHost extends ObjectLister {
  /** The object as soon as it is there; undefined when it does not come in time. */
  waitForObject<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<T | undefined>
  /** The newest version, straight from the store. */
  readFromStore<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly object: T; readonly revision: number } | undefined>
  /** Whether a user is allowed something, as the authorizers say. */
  isAllowed(
    user: User,
    verb: string,
    on: Partial<Omit<ResourceAttributes, 'kind' | 'user' | 'verb'>>,
    signal: AbortSignal,
  ): Promise<boolean>
  /** What the authorizers say to a question, and why. */
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
  /** Records what plugins ask of others. */
  readonly flow: FlowRecorder
  /** A short name suffix. */
  nameSuffix(): string
  nowMs(): number
}

export interface AdmissionScope {
  readonly operations: readonly AdmissionOperation[]
  /** Every kind when absent. */
  readonly kinds?: readonly Kind[]
  /** The object itself when absent. */
  readonly subresources?: readonly string[] | 'all'
}

export interface AdmissionPlugin {
  readonly name: string
  readonly handles: AdmissionScope
  /** Returns the object, changed or not; throws a StatusError to refuse. */
  admit?(attributes: AdmissionAttributes, host: AdmissionHost): ApiObject | undefined | Promise<ApiObject | undefined>
  /** Throws a StatusError to refuse. */
  validate?(attributes: AdmissionAttributes, host: AdmissionHost): void | Promise<void>
  /** What goes into the commit that writes the object; throws a StatusError to refuse. Asked again after a lost race. */
  reserve?(attributes: AdmissionAttributes, host: AdmissionHost): Promise<readonly Reservation[]> | undefined
}

export const defineAdmissionPlugin = (plugin: AdmissionPlugin): AdmissionPlugin => plugin

/** A plugin's refusal of the request's object. */
export const admissionForbidden = ({ kind, object, name }: AdmissionAttributes, detail: string): StatusError =>
  forbidden(kind, metadataOf(object).name ?? name, detail)
