// Policies: the decisions that the filters and the registry depend on. server-policies.ts assembles the configured ones.
import type { AdmissionPlugin } from '../admission/framework/admission-plugin.ts'
import type { Auditor } from '../audit/auditor.ts'
import type { Authentication } from '../authentication/authenticator.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import type { Decision } from '../authorization/authorizer.ts'
import type { LoopMonitor } from '../request/loop-monitor.ts'
import type { ApiRequest } from '../request/request.ts'
import type { RequestScheduler } from '../request/request-scheduler.ts'
import type { SeatSource } from '../request/request-slot.ts'
import type { WebhookConnections } from '../outbound/webhook-connections.ts'
import type { ServedDocument } from '../request/response.ts'
import type { Review } from '../request/review.ts'

export interface Policies {
  authenticate(request: ApiRequest): Authentication | Promise<Authentication>
  authorize(attributes: AccessAttributes, signal: AbortSignal): Decision | Promise<Decision>
  /** Priority and fairness. */
  readonly seatOf: (request: ApiRequest) => SeatSource
  /** Undefined where auditing is not configured. */
  readonly audit?: Auditor | undefined
  readonly admission: readonly AdmissionPlugin[]
  /** For conversion webhooks. Undefined where the server calls none. */
  readonly webhooks?: WebhookConnections | undefined
  /** Creates that are evaluated and not stored. */
  readonly reviews: readonly Review[]
  /** By path. */
  readonly documents: Readonly<Record<string, ServedDocument>>
}

/** What the filters use. */
export interface FilterDeps extends Policies {
  readonly scheduler: RequestScheduler
  readonly loop: LoopMonitor
}
