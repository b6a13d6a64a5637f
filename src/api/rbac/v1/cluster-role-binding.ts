// ClusterRoleBinding: grants the permissions of a role in the whole cluster.
import { list, message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { roleRef, subject } from './policy-rule.ts'
import { defineKind } from '../../kind/kind.ts'
import { pathSegmentErrors } from '../../validation/names.ts'
import { bindingColumns, validateBinding, validateBindingUpdate, withSubjectDefaults } from './binding-rules.ts'

export const clusterRoleBindingMessage = message(
  'io.k8s.api.rbac.v1.ClusterRoleBinding',
  {
    metadata: objectMetaField,
    subjects: list(2, subject, {
      listType: 'atomic',
      description: 'The users, groups and service accounts that get the permissions.',
    }),
    roleRef: struct(3, roleRef, { required: true, description: 'The ClusterRole; immutable.' }),
  },
  'Grants the permissions of a ClusterRole in the whole cluster.',
)
export interface ClusterRoleBinding extends ObjectOf<typeof clusterRoleBindingMessage> {}
export type ClusterRoleBindingInput = InputOf<typeof clusterRoleBindingMessage>

export const clusterRoleBinding = defineKind<ClusterRoleBinding, ClusterRoleBindingInput>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: clusterRoleBindingMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: pathSegmentErrors,
  applyDefaults: withSubjectDefaults,
  validate: (object) => validateBinding(object, { roles: ['ClusterRole'], scope: 'cluster' }),
  validateUpdate: validateBindingUpdate,
  columns: bindingColumns,
  fieldLabels: {},
})
