// Whether the match conditions of a webhook are true for a request.
import { webhookEnvironment } from '../../../../api/expressions/admission-environment.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { expressionInput } from '../../expressions/activation.ts'
import { evaluateMatchConditions } from '../../expressions/match-conditions.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionHost } from '../../framework/admission-plugin.ts'
import type { Webhook } from './webhook.ts'

/** Throws if a condition fails and the webhook's failure policy is Fail. */
export async function matchesConditions(
  { hook }: Webhook,
  attributes: AdmissionAttributes,
  kind: Kind,
  host: AdmissionHost,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = hook
  if (matchConditions.length === 0) return true
  const seen = expressionInput(attributes, kind, host)
  const { user, signal } = attributes
  const match = await evaluateMatchConditions(matchConditions, webhookEnvironment, seen.activation, seen, {
    user,
    host,
    signal,
  })
  if (match.kind === 'failed' && failurePolicy !== 'Ignore') throw admissionForbidden(attributes, match.message)
  return match.kind === 'matches'
}
