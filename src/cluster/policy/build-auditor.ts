// The auditor of an API server with its backends.
import type { Clock } from '../../base/time/clock.ts'
import { silentLog, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import { AuditLog } from '../../apiserver/audit/audit-log.ts'
import { AuditWebhook } from '../../apiserver/audit/audit-webhook.ts'
import { Auditor } from '../../apiserver/audit/auditor.ts'
import type { Platform } from '../../platform/platform.ts'
import type { AuditSettings } from './audit-settings.ts'
import type { OutboundServers } from './outbound-servers.ts'

const auditWebhookTimeoutMs = 30_000

export interface AuditorDeps {
  readonly clock: Clock
  readonly random: Random
  readonly platform: Pick<Platform, 'files'>
  readonly log?: Log
  readonly metrics?: Metrics
}

export function buildAuditor(
  { policy, log, webhook }: AuditSettings,
  deps: AuditorDeps,
  servers: OutboundServers,
): Auditor {
  const { clock, random, platform, log: ownLog = silentLog, metrics = new Metrics() } = deps
  const errors = metrics.counter('apiserver_audit_error_total', 'Audit events that were lost, by backend.', ['plugin'])
  return new Auditor({
    policy,
    clock,
    random,
    metrics,
    isStrict: [log, webhook].some((backend) => backend?.mode === 'blocking-strict'),
    backends: [
      ...(log === undefined ? [] : [new AuditLog(log, { files: platform.files, clock, log: ownLog, errors })]),
      ...(webhook === undefined
        ? []
        : [
            new AuditWebhook(webhook, {
              server: servers.connect(webhook.connection, auditWebhookTimeoutMs),
              target: webhook.connection.target,
              log: ownLog,
              errors,
            }),
          ]),
    ],
  })
}
