// MutatingAdmissionWebhook: webhooks change the object one after the other. When one does, the plugins before it look
// again, and with them the webhooks that want to: once more, not for ever.
import { mutatingWebhookConfiguration } from '../../../api/admissionregistration/v1/mutating-webhook-configuration.ts'
import type { Kind } from '../../../api/kind.ts'
import type { ApiObject } from '../../../api/object.ts'
import { jsonPatch, type JsonPatchOperation } from '../../../schema/json-patch.ts'
import { equalValues, type JsonValue } from '../../../schema/json-value.ts'
import type { AdmissionAttributes, AdmissionHost, AdmissionPlugin } from '../plugin.ts'
import { shownAs, takenBack, type Posted } from '../posted.ts'
import { internalError, type WebhookCaller } from './caller.ts'
import { isWanted } from './conditions.ts'
import { matchedKind } from './matching.ts'
import { webhooksOf, type Webhook } from './webhook.ts'

export const mutatingWebhooks = (caller: WebhookCaller): AdmissionPlugin => ({
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
  caller: WebhookCaller,
  webhooks: readonly Webhook[],
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { reinvocation } = attributes
  let { object } = attributes
  reinvocation.begin(object)
  for (const [index, webhook] of webhooks.entries()) {
    const now = { ...attributes, object }
    const kind = matchedKind(webhook.hook, now, host)
    if (kind === undefined || !reinvocation.isAsked(webhook.id)) continue
    if (!(await isWanted(webhook, now, kind, host))) continue
    const next = await ask(caller, webhook, index, now, kind, host)
    if (next !== object) reinvocation.changed()
    if (webhook.hook.reinvocationPolicy === 'IfNeeded') reinvocation.asked(webhook.id)
    object = next
  }
  reinvocation.end(object)
  return object
}

async function ask(
  caller: WebhookCaller,
  webhook: Webhook,
  index: number,
  attributes: AdmissionAttributes,
  kind: Kind,
  host: AdmissionHost,
): Promise<ApiObject | undefined> {
  const { notes, object, posted, reinvocation } = attributes
  const { hook, configuration } = webhook
  const place = `round_${reinvocation.round}_index_${index}`
  const answer = await caller.ask(webhook, attributes, kind, host, true)
  if (answer === undefined) {
    notes.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name)
    return object
  }
  for (const text of answer.warnings) notes.warn(text)
  for (const [key, value] of Object.entries(answer.annotations)) notes.annotate(`${hook.name}/${key}`, value)
  if (answer.refusal !== undefined) throw answer.refusal
  const next = object === undefined || answer.patch === undefined ? object : patched(object, kind, posted, answer.patch)
  const mutated = next !== object
  notes.annotate(
    `mutation.webhook.admission.k8s.io/${place}`,
    JSON.stringify({ configuration, webhook: hook.name, mutated }),
  )
  if (mutated)
    notes.annotate(
      `patch.webhook.admission.k8s.io/${place}`,
      JSON.stringify({ configuration, webhook: hook.name, patch: answer.patch, patchType: 'JSONPatch' }),
      true,
    )
  return next
}

/** The object after the patch, decoded and defaulted as one that a client sends; itself when nothing changes. */
function patched(object: ApiObject, kind: Kind, posted: Posted | undefined, patch: unknown): ApiObject {
  const shown = shownAs(kind, posted, object)
  try {
    // What is no list of operations is refused by jsonPatch, or is not iterable.
    const changed = jsonPatch(shown as unknown as JsonValue, patch as readonly JsonPatchOperation[])
    return equalValues(changed, shown) ? object : takenBack(kind, posted, changed)
  } catch (error) {
    throw internalError((error as Error).message, error as Error)
  }
}
