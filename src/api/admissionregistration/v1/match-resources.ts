// Matching: which requests a policy or a webhook applies to.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const namedRuleWithOperations = atomicMessage('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations', {
  resourceNames: list(1, 'string', { listType: 'atomic' }),
  apiGroups: list(1, 'string', { listType: 'atomic', embeddedAt: [2, 2] }),
  apiVersions: list(2, 'string', { listType: 'atomic', embeddedAt: [2, 2] }),
  resources: list(3, 'string', { listType: 'atomic', embeddedAt: [2, 2] }),
  scope: string(4, { pointer: true, default: '*', enum: ['*', 'Cluster', 'Namespaced'], embeddedAt: [2, 2] }),
  operations: list(1, 'string', {
    enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'],
    listType: 'atomic',
    embeddedAt: 2,
  }),
})
export interface NamedRuleWithOperations extends Infer<typeof namedRuleWithOperations> {}

export const matchResources = atomicMessage('io.k8s.api.admissionregistration.v1.MatchResources', {
  namespaceSelector: struct(1, labelSelector, { pointer: true, default: {} }),
  objectSelector: struct(2, labelSelector, { pointer: true, default: {} }),
  resourceRules: list(3, namedRuleWithOperations, { listType: 'atomic' }),
  excludeResourceRules: list(4, namedRuleWithOperations, { listType: 'atomic' }),
  matchPolicy: string(7, { pointer: true, default: 'Equivalent', enum: ['Equivalent', 'Exact'] }),
})
export interface MatchResources extends Infer<typeof matchResources> {}

export const matchCondition = message('io.k8s.api.admissionregistration.v1.MatchCondition', {
  name: string(1, { required: true }),
  expression: string(2, { required: true }),
})
export interface MatchCondition extends Infer<typeof matchCondition> {}

export const ruleWithOperations = message('io.k8s.api.admissionregistration.v1.RuleWithOperations', {
  operations: list(1, 'string', { enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'], listType: 'atomic' }),
  apiGroups: list(1, 'string', { listType: 'atomic', embeddedAt: 2 }),
  apiVersions: list(2, 'string', { listType: 'atomic', embeddedAt: 2 }),
  resources: list(3, 'string', { listType: 'atomic', embeddedAt: 2 }),
  scope: string(4, { pointer: true, default: '*', enum: ['*', 'Cluster', 'Namespaced'], embeddedAt: 2 }),
})
export interface RuleWithOperations extends Infer<typeof ruleWithOperations> {}
