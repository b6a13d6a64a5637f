// Webhook: one entry of a configuration, mutating or validating, and where it stands.
import type { MutatingWebhook } from '../../../../api/admissionregistration/v1/mutating-webhook-configuration.ts'
import type { ValidatingWebhook } from '../../../../api/admissionregistration/v1/validating-webhook-configuration.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'

export interface Webhook {
  readonly configuration: string
  readonly hook: ValidatingWebhook & Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>
  /** The same over several rounds of one request. */
  readonly id: string
}

type Configuration = ApiObject & { readonly webhooks?: readonly Webhook['hook'][] }

/** In the order of asking: configurations by name, webhooks as they stand in them. */
export const webhooksOf = (configurations: readonly Configuration[]): Webhook[] =>
  configurations
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ metadata: { name }, webhooks = [] }) =>
      webhooks.map((hook) => ({ configuration: name, hook, id: `${name}/${hook.name}` })),
    )
