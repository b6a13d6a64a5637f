// ValidatingWebhookConfiguration: the webhooks that are called for a request and may reject it.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchCondition, ruleWithOperations } from './match-resources.ts'
import { webhookClientConfig } from './webhook-client-config.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateWebhooks } from './webhook-rules.ts'

export const validatingWebhook = message('io.k8s.api.admissionregistration.v1.ValidatingWebhook', {
  name: string(1, {
    required: true,
    description: 'A qualified name, unique in the configuration, such as policy.example.com.',
  }),
  clientConfig: struct(2, webhookClientConfig, { required: true, description: 'How the webhook is reached.' }),
  rules: list(3, ruleWithOperations, { listType: 'atomic', description: 'The requests that are sent to it.' }),
  failurePolicy: string(4, {
    pointer: true,
    default: 'Fail',
    enum: ['Fail', 'Ignore'],
    description: 'What happens when the call fails: Fail (the default) rejects the request, Ignore admits it.',
  }),
  namespaceSelector: struct(5, labelSelector, {
    pointer: true,
    default: {},
    description: 'The namespaces whose objects are sent, by their labels; all by default.',
  }),
  sideEffects: string(6, {
    required: true,
    pointer: true,
    enum: ['None', 'NoneOnDryRun', 'Some', 'Unknown'],
    enumUnchecked: true,
    description: 'None, or NoneOnDryRun if it changes something elsewhere except in dry runs.',
  }),
  timeoutSeconds: int32(7, {
    pointer: true,
    default: 10,
    description: 'Seconds until a call has failed, from 1 to 30; 10 by default.',
  }),
  admissionReviewVersions: list(8, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The versions of AdmissionReview that it accepts, the preferred one first.',
  }),
  matchPolicy: string(9, {
    pointer: true,
    default: 'Equivalent',
    enum: ['Equivalent', 'Exact'],
    description: 'Whether requests in other versions of a resource match too: Equivalent (the default) or Exact.',
  }),
  objectSelector: struct(10, labelSelector, {
    pointer: true,
    default: {},
    description: 'The objects that are sent, by their labels; all by default.',
  }),
  matchConditions: list(11, matchCondition, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'CEL expressions that must all be true for the request to be sent; at most 64.',
  }),
})
export interface ValidatingWebhook extends Infer<typeof validatingWebhook> {}

export const validatingWebhookConfigurationMessage = message(
  'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
  {
    metadata: objectMetaField,
    webhooks: list(2, validatingWebhook, {
      listType: 'map',
      keys: ['name'],
      patch: 'merge',
      mergeKey: 'name',
      description: 'The webhooks, and the requests that they are called for.',
    }),
  },
  'Webhooks that can reject objects during admission.',
)
export interface ValidatingWebhookConfiguration extends ObjectOf<typeof validatingWebhookConfigurationMessage> {}
export type ValidatingWebhookConfigurationInput = InputOf<typeof validatingWebhookConfigurationMessage>

export const validatingWebhookConfiguration = defineKind<
  ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurationInput
>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  singular: 'validatingwebhookconfiguration',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  message: validatingWebhookConfigurationMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ webhooks = [] }) => validateWebhooks(webhooks),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Webhooks', ({ webhooks }) => webhooks?.length ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
