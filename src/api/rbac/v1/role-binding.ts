// RoleBinding: grants the permissions of a role in one namespace.
import { list, message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { roleRef, subject } from './policy-rule.ts'
import { defineKind } from '../../kind/kind.ts'
import { pathSegmentErrors } from '../../validation/names.ts'
import { bindingColumns, validateBinding, validateBindingUpdate, withSubjectDefaults } from './binding-rules.ts'

export const roleBindingMessage = message(
  'io.k8s.api.rbac.v1.RoleBinding',
  {
    metadata: objectMetaField,
    subjects: list(2, subject, {
      listType: 'atomic',
      description: 'The users, groups and service accounts that get the permissions.',
    }),
    roleRef: struct(3, roleRef, { required: true, description: 'The Role or ClusterRole; immutable.' }),
  },
  'Grants the permissions of a role in one namespace.',
)
export interface RoleBinding extends ObjectOf<typeof roleBindingMessage> {}
export type RoleBindingInput = InputOf<typeof roleBindingMessage>

export const roleBinding = defineKind<RoleBinding, RoleBindingInput>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: roleBindingMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: pathSegmentErrors,
  applyDefaults: withSubjectDefaults,
  validate: (object) => validateBinding(object, { roles: ['Role', 'ClusterRole'], scope: 'namespace' }),
  validateUpdate: validateBindingUpdate,
  columns: bindingColumns,
  fieldLabels: {},
})
