// ValidatingAdmissionWebhook: webhooks validate the final object, all of them concurrently.
import { validatingWebhookConfiguration } from '../../../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from '../../framework/admission-plugin.ts'
import { inMatchedVersion } from '../../framework/matched-version.ts'
import type { WebhookClient } from './webhook-client.ts'
import { matchesConditions } from './webhook-conditions.ts'
import { matchedKind } from './resource-matching.ts'
import { webhooksOf, type Webhook } from './webhook.ts'

export const validatingWebhooks = (caller: WebhookClient): AdmissionPlugin => ({
  name: 'ValidatingAdmissionWebhook',
  handles: { operations: ['create', 'update', 'delete', 'connect'], subresources: 'all' },
  validate(attributes, host) {
    const configurations = host.list(validatingWebhookConfiguration)
    return configurations.length === 0 ? undefined : askAll(caller, webhooksOf(configurations), attributes, host)
  },
})

/** All webhooks are called and awaited; the first rejection in their order is returned. */
async function askAll(
  caller: WebhookClient,
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<void> {
  const verdicts = await Promise.allSettled(
    webhooks.map(async (webhook, index) => {
      const kind = matchedKind(webhook.hook, attributes, host)
      if (kind === undefined) return
      const shown = await inMatchedVersion(attributes, kind, host)
      if (await matchesConditions(webhook, shown, kind, host)) await ask(caller, webhook, index, shown, kind, host)
    }),
  )
  for (const verdict of verdicts) if (verdict.status === 'rejected') throw verdict.reason
}

async function ask(
  caller: WebhookClient,
  webhook: Webhook,
  index: number,
  attributes: AdmissionAttributes,
  kind: Kind,
  host: AdmissionHost,
): Promise<void> {
  const { recorder } = attributes
  const { name } = webhook.hook
  const answer = await caller.call(webhook, attributes, kind, host, false)
  if (answer === undefined)
    return recorder.annotate(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, name)
  for (const text of answer.warnings) recorder.warn(text)
  for (const [key, value] of Object.entries(answer.annotations)) recorder.annotate(`${name}/${key}`, value)
  if (answer.denial !== undefined) throw answer.denial
}
