// CustomResourceDefinitionSpec and its status: names, versions and conversion of a custom resource.
import { bool, bytes, int32, int64, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { schemaField } from '../schema/json-schema-props.ts'

const name = <Type extends string>(type: Type) =>
  `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${type}` as const

export const customResourceColumnDefinition = message(name('CustomResourceColumnDefinition'), {
  name: string(1, { required: true, description: 'The heading of the column.' }),
  type: string(2, { required: true, description: 'The type of the values: integer, number, string, boolean or date.' }),
  format: string(3, { description: 'The format of the values, such as date-time.' }),
  description: string(4, { description: 'The description of the column.' }),
  priority: int32(5, { description: 'Columns above 0 are shown with -o wide only; 0 by default.' }),
  jsonPath: string(6, { required: true, description: 'The path of the value in the object.' }),
})
export interface CustomResourceColumnDefinition extends Infer<typeof customResourceColumnDefinition> {}

export const serviceReference = message(name('ServiceReference'), {
  namespace: string(1, { required: true, description: 'The namespace of the Service.' }),
  name: string(2, { required: true, description: 'The name of the Service.' }),
  path: string(3, { pointer: true, description: 'The path of the requests; / by default.' }),
  port: int32(4, { pointer: true, default: 443, description: 'The port of the Service; 443 by default.' }),
})

export const webhookClientConfig = message(name('WebhookClientConfig'), {
  service: struct(1, serviceReference, { pointer: true, description: 'The Service that is called, instead of a URL.' }),
  caBundle: bytes(2, {
    description: 'The authorities of the server certificate, as PEM; those of the system by default.',
  }),
  url: string(3, { pointer: true, description: 'The https URL that is called, instead of a Service.' }),
})
export interface WebhookClientConfig extends Infer<typeof webhookClientConfig> {}

export const webhookConversion = message(name('WebhookConversion'), {
  clientConfig: struct(2, webhookClientConfig, { pointer: true, description: 'How the webhook is reached.' }),
  conversionReviewVersions: list(3, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The versions of ConversionReview that it accepts, the preferred one first.',
  }),
})

export const customResourceConversion = message(name('CustomResourceConversion'), {
  strategy: string(1, { required: true, description: 'None (only apiVersion is changed, the default) or Webhook.' }),
  webhook: struct(2, webhookConversion, { pointer: true, description: 'The webhook that converts objects.' }),
})
export interface CustomResourceConversion extends Infer<typeof customResourceConversion> {}

export const customResourceDefinitionNames = message(name('CustomResourceDefinitionNames'), {
  plural: string(1, {
    required: true,
    description: 'The name in paths, in lower case: /apis/<group>/<version>/<plural>.',
  }),
  singular: string(2, { description: 'The name of one object for commands; the kind in lower case by default.' }),
  shortNames: list(3, 'string', { listType: 'atomic', description: 'Short names for commands.' }),
  kind: string(4, { required: true, description: 'The kind of objects, in CamelCase.' }),
  listKind: string(5, { description: 'The kind of lists; the kind followed by List by default.' }),
  categories: list(6, 'string', { listType: 'atomic', description: 'Groups of resources such as all, for commands.' }),
})
export interface CustomResourceDefinitionNames extends Infer<typeof customResourceDefinitionNames> {}

export const customResourceValidation = message(name('CustomResourceValidation'), {
  openAPIV3Schema: schemaField(1),
})
export interface CustomResourceValidation extends Infer<typeof customResourceValidation> {}

export const customResourceSubresourceStatus = message(name('CustomResourceSubresourceStatus'), {})

export const customResourceSubresourceScale = message(name('CustomResourceSubresourceScale'), {
  specReplicasPath: string(1, { required: true, description: 'The path of the wanted replicas, below .spec.' }),
  statusReplicasPath: string(2, { required: true, description: 'The path of the present replicas, below .status.' }),
  labelSelectorPath: string(3, {
    pointer: true,
    description: 'The path of the selector of pods as text, for the HorizontalPodAutoscaler.',
  }),
})

export const customResourceSubresources = message(name('CustomResourceSubresources'), {
  status: struct(1, customResourceSubresourceStatus, {
    pointer: true,
    description: 'Makes the status a subresource: it is only written through /status.',
  }),
  scale: struct(2, customResourceSubresourceScale, {
    pointer: true,
    description: 'The fields of the subresource scale.',
  }),
})
export interface CustomResourceSubresources extends Infer<typeof customResourceSubresources> {}

export const selectableField = message(name('SelectableField'), {
  jsonPath: string(1, { required: true, description: 'The path of the field, such as .spec.color.' }),
})
export interface SelectableField extends Infer<typeof selectableField> {}

export const customResourceDefinitionVersion = message(name('CustomResourceDefinitionVersion'), {
  name: string(1, { required: true, description: 'The name of the version, such as v1beta1.' }),
  served: bool(2, { required: true, description: 'Whether the version is served.' }),
  storage: bool(3, { required: true, description: 'Whether objects are stored in this version. Exactly one is.' }),
  schema: struct(4, customResourceValidation, { pointer: true, description: 'The schema of objects.' }),
  subresources: struct(5, customResourceSubresources, { pointer: true, description: 'The subresources of objects.' }),
  additionalPrinterColumns: list(6, customResourceColumnDefinition, {
    listType: 'atomic',
    description: 'The columns of kubectl get; the age by default.',
  }),
  deprecated: bool(7, { description: 'Whether clients get a warning; false by default.' }),
  deprecationWarning: string(8, { pointer: true, description: 'The text of the warning.' }),
  selectableFields: list(9, selectableField, {
    listType: 'atomic',
    description: 'The fields that field selectors can use; at most 8.',
  }),
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
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
  observedGeneration: int64(6, { description: 'The generation of the object that the condition is about.' }),
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
