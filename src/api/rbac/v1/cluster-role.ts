// ClusterRole: permissions in the whole cluster, or in each namespace with a binding.
import { creationText } from '../../columns/age.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { policyRule } from './policy-rule.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { pathSegmentErrors } from '../../validation/names.ts'
import { validateAggregation, validatePolicyRules } from './role-rules.ts'

export const aggregationRule = message('io.k8s.api.rbac.v1.AggregationRule', {
  clusterRoleSelectors: list(1, labelSelector, {
    listType: 'atomic',
    description: 'The ClusterRoles whose rules are added, by their labels; one of the selectors must match.',
  }),
})
export interface AggregationRule extends Infer<typeof aggregationRule> {}

export const clusterRoleMessage = message(
  'io.k8s.api.rbac.v1.ClusterRole',
  {
    metadata: objectMetaField,
    rules: list(2, policyRule, {
      listType: 'atomic',
      keepEmpty: true,
      description: 'The allowed verbs by resource and path.',
    }),
    aggregationRule: struct(3, aggregationRule, {
      pointer: true,
      description: 'Aggregates the rules of other ClusterRoles, selected by label.',
    }),
  },
  'Permissions that can be granted in a namespace or in the whole cluster.',
)
export interface ClusterRole extends ObjectOf<typeof clusterRoleMessage> {}
export type ClusterRoleInput = InputOf<typeof clusterRoleMessage>

export const clusterRole = defineKind<ClusterRole, ClusterRoleInput>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: clusterRoleMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: pathSegmentErrors,
  applyDefaults: (object) => object,
  validate: (object) => [
    ...validatePolicyRules(object.rules ?? [], 'cluster'),
    ...validateAggregation(object.aggregationRule),
  ],
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Created At', ({ metadata }) => creationText(metadata), { type: 'date' }),
  ],
  fieldLabels: {},
})
