// ResourceQuota: limits of what a namespace may use in total.
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { quotaText, validateQuotaSpec, validateQuotaUpdate } from './resource-quota-rules.ts'
import { resourceQuotaSpec, resourceQuotaStatus } from './resource-quota-spec.ts'

export const resourceQuotaMessage = message(
  'io.k8s.api.core.v1.ResourceQuota',
  {
    metadata: objectMetaField,
    spec: struct(2, resourceQuotaSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, resourceQuotaStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Limits the total resource usage of a namespace.',
)
export interface ResourceQuota extends ObjectOf<typeof resourceQuotaMessage> {}
export type ResourceQuotaInput = InputOf<typeof resourceQuotaMessage>

export const resourceQuota = defineKind<ResourceQuota, ResourceQuotaInput>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  categories: [],
  namespaced: true,
  message: resourceQuotaMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateQuotaSpec(spec, 'spec'),
  validateUpdate: (object, old) => validateQuotaUpdate(object.spec, old.spec),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Request', ({ status }) => quotaText(status, (name) => !name.startsWith('limits.'))),
    column('Limit', ({ status }) => quotaText(status, (name) => name.startsWith('limits.'))),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
