// ValidatingWebhookConfiguration: the webhooks that are called for a request and may reject it.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { matchCondition, ruleWithOperations } from './match-resources.ts'
import { webhookClientConfig } from './webhook-client-config.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateWebhooks } from './webhook-rules.ts'

export const validatingWebhook = message('io.k8s.api.admissionregistration.v1.ValidatingWebhook', {
  name: string(1, { required: true }),
  clientConfig: struct(2, webhookClientConfig, { required: true }),
  rules: list(3, ruleWithOperations, { listType: 'atomic' }),
  failurePolicy: string(4, { pointer: true, default: 'Fail', enum: ['Fail', 'Ignore'] }),
  namespaceSelector: struct(5, labelSelector, { pointer: true, default: {} }),
  sideEffects: string(6, {
    required: true,
    pointer: true,
    enum: ['None', 'NoneOnDryRun', 'Some', 'Unknown'],
    enumUnchecked: true,
  }),
  timeoutSeconds: int32(7, { pointer: true, default: 10 }),
  admissionReviewVersions: list(8, 'string', { required: true, listType: 'atomic' }),
  matchPolicy: string(9, { pointer: true, default: 'Equivalent', enum: ['Equivalent', 'Exact'] }),
  objectSelector: struct(10, labelSelector, { pointer: true, default: {} }),
  matchConditions: list(11, matchCondition, { listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
})
export interface ValidatingWebhook extends Infer<typeof validatingWebhook> {}

export const validatingWebhookConfigurationMessage = message(
  'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
  {
    metadata: struct(1, objectMeta, {
      description: 'The name, namespace, labels, annotations and other standard metadata of the object.',
    }),
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
