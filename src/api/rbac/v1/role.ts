// Role: permissions within one namespace.
import { creationText } from '../../columns/age.ts'
import { list, message } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { policyRule } from './policy-rule.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { pathSegmentErrors } from '../../validation/names.ts'
import { validatePolicyRules } from './role-rules.ts'

export const roleMessage = message(
  'io.k8s.api.rbac.v1.Role',
  {
    metadata: objectMetaField,
    rules: list(2, policyRule, {
      listType: 'atomic',
      keepEmpty: true,
      description: 'The allowed verbs by resource.',
    }),
  },
  'Permissions in one namespace.',
)
export interface Role extends ObjectOf<typeof roleMessage> {}
export type RoleInput = InputOf<typeof roleMessage>

export const role = defineKind<Role, RoleInput>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: roleMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: pathSegmentErrors,
  applyDefaults: (object) => object,
  validate: ({ rules }) => validatePolicyRules(rules ?? [], 'namespace'),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Created At', ({ metadata }) => creationText(metadata), { type: 'date' }),
  ],
  fieldLabels: {},
})
