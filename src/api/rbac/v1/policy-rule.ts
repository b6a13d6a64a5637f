// PolicyRule, subjects and role references of RBAC.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, message, string } from '../../../schema/descriptor/field.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export const policyRule = message('io.k8s.api.rbac.v1.PolicyRule', {
  verbs: list(1, 'string', {
    required: true,
    listType: 'atomic',
    description: 'The allowed verbs, such as get or list; * for all.',
  }),
  apiGroups: list(2, 'string', { listType: 'atomic', description: 'The API groups; "" is the core group, * all.' }),
  resources: list(3, 'string', {
    listType: 'atomic',
    description: 'The resources in the plural; * for all, pods/log for a subresource.',
  }),
  resourceNames: list(4, 'string', { listType: 'atomic', description: 'The names of objects; all without it.' }),
  nonResourceURLs: list(5, 'string', {
    listType: 'atomic',
    description: 'The paths that are no resources, which may end with *; in ClusterRoles only.',
  }),
})
export interface PolicyRule extends Infer<typeof policyRule> {}

export const roleRef = atomicMessage('io.k8s.api.rbac.v1.RoleRef', {
  apiGroup: string(1, {
    keepEmpty: true,
    default: rbacGroup,
    description: 'The API group of the role: rbac.authorization.k8s.io, which is the default.',
  }),
  kind: string(2, { required: true, description: 'Role or ClusterRole.' }),
  name: string(3, { required: true, description: 'The name of the role.' }),
})
export interface RoleRef extends Infer<typeof roleRef> {}

export const subject = atomicMessage('io.k8s.api.rbac.v1.Subject', {
  kind: string(1, { required: true, description: 'User, Group or ServiceAccount.' }),
  apiGroup: string(2, {
    description:
      'The API group: rbac.authorization.k8s.io for users and groups (the default), empty for ServiceAccounts.',
  }),
  name: string(3, { required: true, description: 'The name of the subject.' }),
  namespace: string(4, { description: 'The namespace of a ServiceAccount.' }),
})
export interface Subject extends Infer<typeof subject> {}
