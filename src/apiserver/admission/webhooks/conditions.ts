// Whether the conditions of a webhook hold: one that is false, and it is not asked.
import { webhookEnvironment } from '../../../api/expressions/admission.ts'
import type { Kind } from '../../../api/kind.ts'
import { seenBy } from '../expressions/activation.ts'
import { matchOf } from '../expressions/conditions.ts'
import { refused, type AdmissionAttributes, type AdmissionHost } from '../plugin.ts'
import type { Webhook } from './webhook.ts'

/** Throws the refusal where conditions fail and the webhook may not be left out. */
export async function isWanted(
  { hook }: Webhook,
  attributes: AdmissionAttributes,
  kind: Kind,
  host: AdmissionHost,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = hook
  if (matchConditions.length === 0) return true
  const seen = seenBy(attributes, kind, host)
  const { user, signal } = attributes
  const match = await matchOf(matchConditions, webhookEnvironment, seen.activation, seen, { user, host, signal })
  if (match.kind === 'failed' && failurePolicy !== 'Ignore') throw refused(attributes, match.message)
  return match.kind === 'matches'
}
