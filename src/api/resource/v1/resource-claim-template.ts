// ResourceClaimTemplate: the template of a claim that is created for each pod.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMeta, objectMetaField } from '../../meta/v1/object-meta.ts'
import { validateLabels } from '../../validation/metadata-rules.ts'
import { validateClaim, withClaimDefaults } from './claim-rules.ts'
import { resourceClaimSpec } from './device-requests.ts'
import { immutable } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const resourceClaimTemplateSpec = message('io.k8s.api.resource.v1.ResourceClaimTemplateSpec', {
  metadata: struct(1, objectMeta, { description: 'Labels and annotations of the claims.' }),
  spec: struct(2, resourceClaimSpec, { required: true, description: 'The spec of the claims.' }),
})
export interface ResourceClaimTemplateSpec extends Infer<typeof resourceClaimTemplateSpec> {}

export const resourceClaimTemplateMessage = message(
  'io.k8s.api.resource.v1.ResourceClaimTemplate',
  {
    metadata: objectMetaField,
    spec: struct(2, resourceClaimTemplateSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'A template of claims that are created for each pod.',
)
export interface ResourceClaimTemplate extends ObjectOf<typeof resourceClaimTemplateMessage> {}
export type ResourceClaimTemplateInput = InputOf<typeof resourceClaimTemplateMessage>

export const resourceClaimTemplate = defineKind<ResourceClaimTemplate, ResourceClaimTemplateInput>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  singular: 'resourceclaimtemplate',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: resourceClaimTemplateMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: { ...object.spec, spec: withClaimDefaults(object.spec.spec) } }),
  validate: ({ spec: { metadata, spec } }) => [
    ...validateLabels(metadata.labels ?? {}, 'spec.metadata.labels'),
    ...validateClaim(spec, 'spec.spec'),
  ],
  validateUpdate: ({ spec }, old) => (equalValues(spec, old.spec) ? [] : [immutable('spec', spec)]),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
