// Policies: the decisions that the filters and the registry depend on. server-policies.ts assembles the configured ones.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { AdmissionPlugin } from '../admission/framework/admission-plugin.ts'
import type { Auditor } from '../audit/auditor.ts'
import type { Authentication } from '../authentication/authenticator.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import type { Decision } from '../authorization/authorizer.ts'
import type { ApiRequest } from '../request/request.ts'
import type { WebhookConnections } from '../outbound/webhook-connections.ts'
import type { ServedDocument } from '../request/response.ts'
import type { Review } from '../request/review.ts'

export interface Policies {
  authenticate(request: ApiRequest): Authentication | Promise<Authentication>
  /** Waits for the user's turn; synchronous while the event loop is not busy. */
  awaitTurn(user: string): MaybePromise<void>
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
  /** Takes a seat of priority and fairness; the returned function releases it. */
  readonly takeSeat: TakeSeat
  /** Undefined where auditing is not configured. */
  readonly audit?: Auditor | undefined
  readonly admission: readonly AdmissionPlugin[]
  /** For conversion webhooks. Undefined where the server calls none. */
  readonly webhooks?: WebhookConnections | undefined
  /** Creates that are evaluated and not stored. */
  readonly reviews: readonly Review[]
  /** Static documents by path. */
  readonly documents: Readonly<Record<string, ServedDocument>>
}

/** Returns synchronously where a seat is free. */
export type TakeSeat = (request: ApiRequest) => (() => void) | Promise<() => void>
