// CustomResourceDefinitionSpec and its status: names, versions and conversion of a custom resource.
import { bool, bytes, int32, int64, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { schemaField } from '../schema/json-schema-props.ts'

const name = <Type extends string>(type: Type) =>
  `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${type}` as const

export const customResourceColumnDefinition = message(name('CustomResourceColumnDefinition'), {
  name: string(1, { required: true }),
  type: string(2, { required: true }),
  format: string(3),
  description: string(4),
  priority: int32(5),
  jsonPath: string(6, { required: true }),
})
export interface CustomResourceColumnDefinition extends Infer<typeof customResourceColumnDefinition> {}

export const serviceReference = message(name('ServiceReference'), {
  namespace: string(1, { required: true }),
  name: string(2, { required: true }),
  path: string(3, { pointer: true }),
  port: int32(4, { pointer: true, default: 443 }),
})

export const webhookClientConfig = message(name('WebhookClientConfig'), {
  service: struct(1, serviceReference, { pointer: true }),
  caBundle: bytes(2),
  url: string(3, { pointer: true }),
})
export interface WebhookClientConfig extends Infer<typeof webhookClientConfig> {}

export const webhookConversion = message(name('WebhookConversion'), {
  clientConfig: struct(2, webhookClientConfig, { pointer: true }),
  conversionReviewVersions: list(3, 'string', { required: true, listType: 'atomic' }),
})

export const customResourceConversion = message(name('CustomResourceConversion'), {
  strategy: string(1, { required: true }),
  webhook: struct(2, webhookConversion, { pointer: true }),
})
export interface CustomResourceConversion extends Infer<typeof customResourceConversion> {}

export const customResourceDefinitionNames = message(name('CustomResourceDefinitionNames'), {
  plural: string(1, { required: true }),
  singular: string(2),
  shortNames: list(3, 'string', { listType: 'atomic' }),
  kind: string(4, { required: true }),
  listKind: string(5),
  categories: list(6, 'string', { listType: 'atomic' }),
})
export interface CustomResourceDefinitionNames extends Infer<typeof customResourceDefinitionNames> {}

export const customResourceValidation = message(name('CustomResourceValidation'), {
  openAPIV3Schema: schemaField(1),
})
export interface CustomResourceValidation extends Infer<typeof customResourceValidation> {}

export const customResourceSubresourceStatus = message(name('CustomResourceSubresourceStatus'), {})

export const customResourceSubresourceScale = message(name('CustomResourceSubresourceScale'), {
  specReplicasPath: string(1, { required: true }),
  statusReplicasPath: string(2, { required: true }),
  labelSelectorPath: string(3, { pointer: true }),
})

export const customResourceSubresources = message(name('CustomResourceSubresources'), {
  status: struct(1, customResourceSubresourceStatus, { pointer: true }),
  scale: struct(2, customResourceSubresourceScale, { pointer: true }),
})
export interface CustomResourceSubresources extends Infer<typeof customResourceSubresources> {}

export const selectableField = message(name('SelectableField'), {
  jsonPath: string(1, { required: true }),
})
export interface SelectableField extends Infer<typeof selectableField> {}

export const customResourceDefinitionVersion = message(name('CustomResourceDefinitionVersion'), {
  name: string(1, { required: true }),
  served: bool(2, { required: true }),
  storage: bool(3, { required: true }),
  schema: struct(4, customResourceValidation, { pointer: true }),
  subresources: struct(5, customResourceSubresources, { pointer: true }),
  additionalPrinterColumns: list(6, customResourceColumnDefinition, { listType: 'atomic' }),
  deprecated: bool(7),
  deprecationWarning: string(8, { pointer: true }),
  selectableFields: list(9, selectableField, { listType: 'atomic' }),
})
export interface CustomResourceDefinitionVersion extends Infer<typeof customResourceDefinitionVersion> {}

export const customResourceDefinitionSpec = message(name('CustomResourceDefinitionSpec'), {
  group: string(1, { required: true, description: 'The API group that serves the resource.' }),
  names: struct(3, customResourceDefinitionNames, {
    required: true,
    description: 'The names of the resource in paths, manifests and commands.',
  }),
  scope: string(4, { required: true, description: 'The scope of objects: Namespaced or Cluster.' }),
  versions: list(7, customResourceDefinitionVersion, {
    required: true,
    listType: 'atomic',
    description: 'The versions of the resource; exactly one of them is the form in which objects are stored.',
  }),
  conversion: struct(9, customResourceConversion, {
    pointer: true,
    description: 'How objects are converted between versions.',
  }),
  preserveUnknownFields: bool(10, {
    description: 'Deprecated; must be false. Use x-kubernetes-preserve-unknown-fields in a schema instead.',
  }),
})
export interface CustomResourceDefinitionSpec extends Infer<typeof customResourceDefinitionSpec> {}

export const customResourceDefinitionCondition = message(name('CustomResourceDefinitionCondition'), {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  lastTransitionTime: time(3),
  reason: string(4),
  message: string(5),
  observedGeneration: int64(6),
})
export interface CustomResourceDefinitionCondition extends Infer<typeof customResourceDefinitionCondition> {}

export const customResourceDefinitionStatus = message(name('CustomResourceDefinitionStatus'), {
  conditions: list(1, customResourceDefinitionCondition, {
    keepEmpty: true,
    listType: 'map',
    keys: ['type'],
    description: 'Whether the names were accepted and the resource is served.',
  }),
  acceptedNames: struct(2, customResourceDefinitionNames, {
    description: 'The names under which the resource is served.',
  }),
  storedVersions: list(3, 'string', {
    keepEmpty: true,
    listType: 'atomic',
    description: 'All versions in which objects may be stored.',
  }),
  observedGeneration: int64(4, { description: 'The generation of the spec that this status is based on.' }),
})
export interface CustomResourceDefinitionStatus extends Infer<typeof customResourceDefinitionStatus> {}
