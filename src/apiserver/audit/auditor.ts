// Auditor: creates the audit record of each request that the policy matches and passes its events to the backends.
import type { Clock } from '../../base/time/clock.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ApiRequest } from '../request/request.ts'
import { matchingRule, type AuditPolicy, type AuditStage } from './audit-policy.ts'
import { AuditRecord, type AuditEvent } from './audit-record.ts'

/** `batch` does not wait for the backend, `blocking` does, and `blocking-strict` fails the request if its first event is lost. */
export const auditModes = ['batch', 'blocking', 'blocking-strict'] as const
export type AuditMode = (typeof auditModes)[number]

/** The destination of events. A backend logs its own errors; the request continues unless the mode is strict. */
export interface AuditBackend {
  /** Resolves when the request can continue; to false if the event is lost. */
  write(event: AuditEvent): Promise<boolean>
  close(): Promise<void>
}

export interface AuditorDeps {
  readonly policy: AuditPolicy
  readonly backends: readonly AuditBackend[]
  /** Whether a request fails if its first event is lost. */
  readonly isStrict?: boolean
  readonly clock: Clock
  readonly random: Random
  readonly metrics: Metrics
}

export class Auditor {
  readonly #deps: AuditorDeps
  readonly #events
  readonly #levels
  readonly #rejected

  constructor(deps: AuditorDeps) {
    this.#deps = deps
    const { metrics } = deps
    this.#events = metrics.counter(
      'apiserver_audit_event_total',
      '[ALPHA] Audit events generated and sent to the backends.',
    )
    this.#levels = metrics.counter('apiserver_audit_level_total', '[ALPHA] Audit policy levels, one per request.', [
      'level',
    ])
    this.#rejected = metrics.counter(
      'apiserver_audit_requests_rejected_total',
      '[ALPHA] Requests rejected because the audit backend failed.',
    )
  }

  /** The record of an authenticated request; undefined if the policy does not match it. */
  begin(request: ApiRequest): AuditRecord | undefined {
    const { policy, clock, random } = this.#deps
    const rule = matchingRule(policy, request, request.user)
    this.#levels.add({ level: rule?.level ?? 'None' })
    if (rule === undefined) return undefined
    return new AuditRecord(rule, request, request.origin?.auditId ?? newUid(random), clock.nowMs())
  }

  get isStrict(): boolean {
    return this.#deps.isStrict ?? false
  }

  /** The error of a request whose first event is lost in strict mode. */
  rejection(uri: string): StatusError {
    this.#rejected.add({})
    const message = `Internal Server Error: ${JSON.stringify(uri)}: failed to store audit event`
    return new StatusError(500, 'InternalError', message)
  }

  /** Records a request that could not be authenticated. */
  async recordUnauthenticated(request: ApiRequest): Promise<void> {
    const record = this.begin(request)
    if (record === undefined) return
    record.setUnauthenticated(`Authentication failed, ${attempted(request)}`)
    await this.write(record, 'ResponseStarted')
  }

  /** Returns whether every backend accepted the event. */
  async write(record: AuditRecord, stage: AuditStage): Promise<boolean> {
    if (record.rule.omittedStages.has(stage)) return true
    this.#events.add({})
    const event = record.event(stage, this.#deps.clock.nowMs())
    const written = await Promise.all(this.#deps.backends.map((backend) => backend.write(event)))
    return written.every((isWritten) => isWritten)
  }

  async close(): Promise<void> {
    await Promise.all(this.#deps.backends.map((backend) => backend.close()))
  }
}

/** The types of credentials in the request, never their content. */
function attempted({ credentials }: ApiRequest): string {
  if (credentials.kind === 'asserted') return 'no credentials provided'
  const scheme = (credentials.headers['authorization'] ?? '').split(' ')[0]?.toLowerCase() ?? ''
  const shown = [
    ...(scheme === 'bearer' || scheme === 'basic' ? [scheme] : []),
    ...(credentials.certificate === undefined ? [] : ['x509']),
  ]
  return shown.length === 0 ? 'no credentials provided' : `attempted: ${shown.join(', ')}`
}
