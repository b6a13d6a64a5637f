// WebhookClientConfig: how to reach a webhook.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bytes, int32, message, string, struct } from '../../../schema/descriptor/field.ts'

export const serviceReference = message('io.k8s.api.admissionregistration.v1.ServiceReference', {
  namespace: string(1, { required: true }),
  name: string(2, { required: true }),
  path: string(3, { pointer: true }),
  port: int32(4, { pointer: true, default: 443 }),
})
export interface ServiceReference extends Infer<typeof serviceReference> {}

export const webhookClientConfig = message('io.k8s.api.admissionregistration.v1.WebhookClientConfig', {
  service: struct(1, serviceReference, { pointer: true }),
  caBundle: bytes(2),
  url: string(3, { pointer: true }),
})
export interface WebhookClientConfig extends Infer<typeof webhookClientConfig> {}
