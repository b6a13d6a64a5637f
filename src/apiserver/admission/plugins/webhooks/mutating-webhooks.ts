// MutatingAdmissionWebhook: webhooks change the object one after the other. After a change the earlier plugins and the
// webhooks with reinvocationPolicy IfNeeded run again, once.
import { mutatingWebhookConfiguration } from '../../../../api/admissionregistration/v1/mutating-webhook-configuration.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { jsonPatch, type JsonPatchOperation } from '../../../../schema/patch/json-patch.ts'
import { equalValues, type JsonValue } from '../../../../schema/json/json-value.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from '../../framework/admission-plugin.ts'
import { fromMatchedVersion, inMatchedVersion } from '../../framework/matched-version.ts'
import { convertToVersion, convertToStored, type SubresourceObject } from '../../framework/subresource-object.ts'
import { internalError, type WebhookClient } from './webhook-client.ts'
import { matchesConditions } from './webhook-conditions.ts'
import { matchedKind } from './resource-matching.ts'
import { webhooksOf, type Webhook } from './webhook.ts'
import { jsonText } from '../../../../schema/json/exact-json.ts'

export const mutatingWebhooks = (caller: WebhookClient): AdmissionPlugin => ({
  name: 'MutatingAdmissionWebhook',
  handles: { operations: ['create', 'update', 'delete', 'connect'], subresources: 'all' },
  admit(attributes, host) {
    const configurations = host.list(mutatingWebhookConfiguration)
    return configurations.length === 0
      ? attributes.object
      : askAll(caller, webhooksOf(configurations), attributes, host)
  },
})

async function askAll(
  caller: WebhookClient,
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { reinvocation } = attributes
  let { object } = attributes
  reinvocation.beginWebhooks(object)
  for (const [index, webhook] of webhooks.entries()) {
    const now = { ...attributes, object }
    const kind = matchedKind(webhook.hook, now, host)
    if (kind === undefined || !reinvocation.shouldInvoke(webhook.id)) continue
    const shown = await inMatchedVersion(now, kind, host)
    if (!(await matchesConditions(webhook, shown, kind, host))) continue
    const changed = await ask(caller, webhook, index, shown, kind, host)
    const isChanged = changed !== undefined && changed !== shown.object
    const next = isChanged ? await fromMatchedVersion(changed, attributes, kind, host) : object
    if (next !== object) reinvocation.objectChanged()
    if (webhook.hook.reinvocationPolicy === 'IfNeeded') reinvocation.markReinvocable(webhook.id)
    object = next
  }
  reinvocation.endWebhooks(object)
  return object
}

async function ask(
  caller: WebhookClient,
  webhook: Webhook,
  index: number,
  attributes: AdmissionAttributes,
  kind: Kind,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { recorder, object, subresourceObject, reinvocation } = attributes
  const { hook, configuration } = webhook
  const place = `round_${reinvocation.round}_index_${index}`
  const answer = await caller.call(webhook, attributes, kind, host, true)
  if (answer === undefined) {
    recorder.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name)
    return object
  }
  for (const text of answer.warnings) recorder.warn(text)
  for (const [key, value] of Object.entries(answer.annotations)) recorder.annotate(`${hook.name}/${key}`, value)
  if (answer.denial !== undefined) throw answer.denial
  const next =
    object === undefined || answer.patch === undefined ? object : patched(object, kind, subresourceObject, answer.patch)
  const mutated = next !== object
  recorder.annotate(
    `mutation.webhook.admission.k8s.io/${place}`,
    JSON.stringify({ configuration, webhook: hook.name, mutated }),
  )
  if (mutated)
    recorder.annotate(
      `patch.webhook.admission.k8s.io/${place}`,
      jsonText({ configuration, webhook: hook.name, patch: answer.patch, patchType: 'JSONPatch' }),
      true,
    )
  return next
}

/** The object after the patch, decoded and defaulted as if a client had sent it; the same object if nothing changes. */
function patched(
  object: ApiObject,
  kind: Kind,
  subresourceObject: SubresourceObject | undefined,
  patch: unknown,
): ApiObject {
  const shown = convertToVersion(kind, subresourceObject, object)
  try {
    // jsonPatch throws if the patch is not a list of operations.
    const changed = jsonPatch(shown as unknown as JsonValue, patch as readonly JsonPatchOperation[])
    return equalValues(changed, shown) ? object : convertToStored(kind, subresourceObject, changed)
  } catch (error) {
    throw internalError((error as Error).message, error as Error)
  }
}
