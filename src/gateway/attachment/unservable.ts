// Objects that could not be evaluated for a reason that no rule foresees. They get an event and are counted; others are
// served.
import type { ApiObject } from '../../api/meta/object.ts'
import { errorText } from '../../base/observability/log.ts'

export type ServableKind = 'BackendTLSPolicy' | 'GRPCRoute' | 'Gateway' | 'HTTPRoute' | 'ListenerSet' | 'TLSRoute'

export interface Unservable {
  readonly kind: ServableKind
  readonly object: ApiObject
  readonly message: string
}

/** Returns the message. */
export type OnUnservable = (kind: ServableKind, object: ApiObject, error: unknown) => string

export const unservable = (kind: ServableKind, object: ApiObject, error: unknown): Unservable => ({
  kind,
  object,
  message: `the ${kind} cannot be served: ${errorText(error)}`,
})
