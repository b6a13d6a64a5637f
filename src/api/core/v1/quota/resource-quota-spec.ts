// ResourceQuotaSpec and ResourceQuotaStatus.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'

export const scopedResourceSelectorRequirement = message('io.k8s.api.core.v1.ScopedResourceSelectorRequirement', {
  scopeName: string(1, {
    required: true,
    enum: [
      'BestEffort',
      'CrossNamespacePodAffinity',
      'NotBestEffort',
      'NotTerminating',
      'PriorityClass',
      'Terminating',
      'VolumeAttributesClass',
    ],
    enumUnchecked: true,
    description: 'The scope, such as PriorityClass.',
  }),
  operator: string(2, {
    required: true,
    enum: ['DoesNotExist', 'Exists', 'In', 'NotIn'],
    enumUnchecked: true,
    description: 'In, NotIn, Exists or DoesNotExist.',
  }),
  values: list(3, 'string', { listType: 'atomic', description: 'The values for In and NotIn.' }),
})
export interface ScopedResourceSelectorRequirement extends Infer<typeof scopedResourceSelectorRequirement> {}

export const scopeSelector = atomicMessage('io.k8s.api.core.v1.ScopeSelector', {
  matchExpressions: list(1, scopedResourceSelectorRequirement, {
    listType: 'atomic',
    description: 'Conditions on scopes. All of them must be met.',
  }),
})
export interface ScopeSelector extends Infer<typeof scopeSelector> {}

export const resourceQuotaSpec = message('io.k8s.api.core.v1.ResourceQuotaSpec', {
  hard: map(1, 'quantity', { description: 'The limits by resource.' }),
  scopes: list(2, 'string', {
    listType: 'atomic',
    enum: [
      'BestEffort',
      'CrossNamespacePodAffinity',
      'NotBestEffort',
      'NotTerminating',
      'PriorityClass',
      'Terminating',
      'VolumeAttributesClass',
    ],
    enumUnchecked: true,
    description: 'Scopes that an object must match to count; all of them must match.',
  }),
  scopeSelector: struct(3, scopeSelector, {
    pointer: true,
    description: 'Scopes and values that an object must match to count.',
  }),
})
export interface ResourceQuotaSpec extends Infer<typeof resourceQuotaSpec> {}

export const resourceQuotaStatus = message('io.k8s.api.core.v1.ResourceQuotaStatus', {
  hard: map(1, 'quantity', { description: 'The limits in force, by resource.' }),
  used: map(2, 'quantity', { description: 'How much is used, by resource.' }),
})
export interface ResourceQuotaStatus extends Infer<typeof resourceQuotaStatus> {}
