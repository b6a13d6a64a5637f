// Webhook: one entry of a mutating or validating webhook configuration.
import type { MutatingWebhook } from '../../../../api/admissionregistration/v1/mutating-webhook-configuration.ts'
import type { ValidatingWebhook } from '../../../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'

export interface Webhook {
  readonly configuration: string
  readonly hook: ValidatingWebhook & Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>
  /** Identifies the webhook in both rounds of a request. */
  readonly id: string
}

type Configuration = ApiObject & { readonly webhooks?: readonly Webhook['hook'][] }

/** In the order of calls: configurations by name, webhooks in the order of their configuration. */
export const webhooksOf = (configurations: readonly Configuration[]): Webhook[] =>
  configurations
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ metadata: { name }, webhooks = [] }) =>
      webhooks.map((hook) => ({ configuration: name, hook, id: `${name}/${hook.name}` })),
    )
