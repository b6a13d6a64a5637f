// AuditSettings: the audit configuration from flags and the policy file.
import type { AuditLogOptions } from '../../apiserver/audit/audit-log.ts'
import { auditPolicy, type AuditPolicy } from '../../apiserver/audit/audit-policy.ts'
import { auditModes } from '../../apiserver/audit/auditor.ts'
import type { AuditWebhookOptions } from '../../apiserver/audit/audit-webhook.ts'
import { ConfigReader } from '../../apiserver/config/config-reader.ts'
import type { Files } from '../../platform/files.ts'
import { choiceFlag, countFlag, readYaml, durationFlag } from '../flags/flag-values.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import { webhookConnection, type WebhookConnection } from '../flags/webhook-connection.ts'

export interface AuditSettings {
  readonly policy: AuditPolicy
  readonly log: AuditLogOptions | undefined
  readonly webhook: (AuditWebhookOptions & { readonly connection: WebhookConnection }) | undefined
}

const dayMs = 86_400_000
const megabyte = 1 << 20

/** As upstream: without a policy or a backend, nothing is recorded. */
export async function readAuditSettings(flags: PolicyFlagValues, files: Files): Promise<AuditSettings | undefined> {
  const policyPath = flags['audit-policy-file']
  const logPath = flags['audit-log-path']
  const webhookPath = flags['audit-webhook-config-file']
  if (policyPath === undefined || (logPath === undefined && webhookPath === undefined)) return undefined
  return {
    policy: auditPolicy(new ConfigReader(await readYaml(policyPath, files))),
    log:
      logPath === undefined
        ? undefined
        : {
            // As upstream, `-` is the standard output, which is not rotated.
            path: logPath === '-' ? '/dev/stdout' : logPath,
            bytesMax: logPath === '-' ? Infinity : countFlag(flags, 'audit-log-maxsize', 100, 1) * megabyte,
            backupsMax: countFlag(flags, 'audit-log-maxbackup', 0),
            ageMsMax: countFlag(flags, 'audit-log-maxage', 0) * dayMs,
            compresses: choiceFlag(flags, 'audit-log-compress', ['true', 'false'], 'false') === 'true',
            mode: choiceFlag(flags, 'audit-log-mode', auditModes, 'blocking'),
            bufferMax: countFlag(flags, 'audit-log-batch-buffer-size', 10_000, 1),
            eventBytesMax: truncationOf(flags, 'log')?.eventBytesMax,
          },
    webhook:
      webhookPath === undefined
        ? undefined
        : {
            connection: await webhookConnection(webhookPath, files),
            bufferMax: countFlag(flags, 'audit-webhook-batch-buffer-size', 10_000, 1),
            batchMax: countFlag(flags, 'audit-webhook-batch-max-size', 400, 1),
            waitMs: durationFlag(flags, 'audit-webhook-batch-max-wait', 30_000),
            backoffMs: durationFlag(flags, 'audit-webhook-initial-backoff', 10_000),
            mode: choiceFlag(flags, 'audit-webhook-mode', auditModes, 'batch'),
            truncation: truncationOf(flags, 'webhook'),
          },
  }
}

/** The truncation limits of a backend, if enabled. */
function truncationOf(flags: PolicyFlagValues, backend: 'log' | 'webhook') {
  if (choiceFlag(flags, `audit-${backend}-truncate-enabled`, ['true', 'false'], 'false') === 'false') return undefined
  return {
    eventBytesMax: countFlag(flags, `audit-${backend}-truncate-max-event-size`, 102_400, 1),
    batchBytesMax: countFlag(flags, `audit-${backend}-truncate-max-batch-size`, 10_485_760, 1),
  }
}
