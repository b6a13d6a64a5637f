// WebhookClientConfig: how to reach a webhook.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bytes, int32, message, string, struct } from '../../../schema/descriptor/field.ts'

export const serviceReference = message('io.k8s.api.admissionregistration.v1.ServiceReference', {
  namespace: string(1, { required: true, description: 'The namespace of the Service.' }),
  name: string(2, { required: true, description: 'The name of the Service.' }),
  path: string(3, { pointer: true, description: 'The path of the requests; / by default.' }),
  port: int32(4, { pointer: true, default: 443, description: 'The port of the Service; 443 by default.' }),
})
export interface ServiceReference extends Infer<typeof serviceReference> {}

export const webhookClientConfig = message('io.k8s.api.admissionregistration.v1.WebhookClientConfig', {
  service: struct(1, serviceReference, { pointer: true, description: 'The Service that is called, instead of a URL.' }),
  caBundle: bytes(2, {
    description: 'The authorities of the server certificate, as PEM; those of the system by default.',
  }),
  url: string(3, { pointer: true, description: 'The https URL that is called, instead of a Service.' }),
})
export interface WebhookClientConfig extends Infer<typeof webhookClientConfig> {}
