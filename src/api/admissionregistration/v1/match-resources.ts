// Matching: which requests a policy or a webhook applies to.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const namedRuleWithOperations = atomicMessage('io.k8s.api.admissionregistration.v1.NamedRuleWithOperations', {
  resourceNames: list(1, 'string', { listType: 'atomic', description: 'Names of objects; all without it.' }),
  apiGroups: list(1, 'string', {
    listType: 'atomic',
    embeddedAt: [2, 2],
    description: 'API groups; "" is the core group, * all.',
  }),
  apiVersions: list(2, 'string', { listType: 'atomic', embeddedAt: [2, 2], description: 'API versions; * for all.' }),
  resources: list(3, 'string', {
    listType: 'atomic',
    embeddedAt: [2, 2],
    description: 'Resources in the plural, with a slash before a subresource: pods, pods/*, */status, */*.',
  }),
  scope: string(4, {
    pointer: true,
    default: '*',
    enum: ['*', 'Cluster', 'Namespaced'],
    embeddedAt: [2, 2],
    description: 'Cluster, Namespaced, or * for both (the default).',
  }),
  operations: list(1, 'string', {
    enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'],
    listType: 'atomic',
    embeddedAt: 2,
    description: 'CREATE, UPDATE, DELETE, CONNECT, or * for all.',
  }),
})
export interface NamedRuleWithOperations extends Infer<typeof namedRuleWithOperations> {}

export const matchResources = atomicMessage('io.k8s.api.admissionregistration.v1.MatchResources', {
  namespaceSelector: struct(1, labelSelector, {
    pointer: true,
    default: {},
    description: 'The namespaces by their labels; all by default.',
  }),
  objectSelector: struct(2, labelSelector, {
    pointer: true,
    default: {},
    description: 'The objects by their labels; all by default.',
  }),
  resourceRules: list(3, namedRuleWithOperations, {
    listType: 'atomic',
    description: 'The requests that match; one of the rules must match.',
  }),
  excludeResourceRules: list(4, namedRuleWithOperations, {
    listType: 'atomic',
    description: 'The requests that do not match although a rule does.',
  }),
  matchPolicy: string(7, {
    pointer: true,
    default: 'Equivalent',
    enum: ['Equivalent', 'Exact'],
    description: 'Whether requests in other versions of a resource match too: Equivalent (the default) or Exact.',
  }),
})
export interface MatchResources extends Infer<typeof matchResources> {}

export const matchCondition = message('io.k8s.api.admissionregistration.v1.MatchCondition', {
  name: string(1, { required: true, description: 'A name for error messages, unique in the list.' }),
  expression: string(2, { required: true, description: 'A CEL expression that returns a boolean.' }),
})
export interface MatchCondition extends Infer<typeof matchCondition> {}

export const ruleWithOperations = message('io.k8s.api.admissionregistration.v1.RuleWithOperations', {
  operations: list(1, 'string', {
    enum: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'],
    listType: 'atomic',
    description: 'CREATE, UPDATE, DELETE, CONNECT, or * for all.',
  }),
  apiGroups: list(1, 'string', {
    listType: 'atomic',
    embeddedAt: 2,
    description: 'API groups; "" is the core group, * all.',
  }),
  apiVersions: list(2, 'string', { listType: 'atomic', embeddedAt: 2, description: 'API versions; * for all.' }),
  resources: list(3, 'string', {
    listType: 'atomic',
    embeddedAt: 2,
    description: 'Resources in the plural, with a slash before a subresource: pods, pods/*, */status, */*.',
  }),
  scope: string(4, {
    pointer: true,
    default: '*',
    enum: ['*', 'Cluster', 'Namespaced'],
    embeddedAt: 2,
    description: 'Cluster, Namespaced, or * for both (the default).',
  }),
})
export interface RuleWithOperations extends Infer<typeof ruleWithOperations> {}
