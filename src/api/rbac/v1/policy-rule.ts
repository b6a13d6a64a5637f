// PolicyRule, subjects and role references of RBAC.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, list, message, string } from '../../../schema/descriptor/field.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export const policyRule = message('io.k8s.api.rbac.v1.PolicyRule', {
  verbs: list(1, 'string', { required: true, listType: 'atomic' }),
  apiGroups: list(2, 'string', { listType: 'atomic' }),
  resources: list(3, 'string', { listType: 'atomic' }),
  resourceNames: list(4, 'string', { listType: 'atomic' }),
  nonResourceURLs: list(5, 'string', { listType: 'atomic' }),
})
export interface PolicyRule extends Infer<typeof policyRule> {}

export const roleRef = atomicMessage('io.k8s.api.rbac.v1.RoleRef', {
  apiGroup: string(1, { keepEmpty: true, default: rbacGroup }),
  kind: string(2, { required: true }),
  name: string(3, { required: true }),
})
export interface RoleRef extends Infer<typeof roleRef> {}

export const subject = atomicMessage('io.k8s.api.rbac.v1.Subject', {
  kind: string(1, { required: true }),
  apiGroup: string(2),
  name: string(3, { required: true }),
  namespace: string(4),
})
export interface Subject extends Infer<typeof subject> {}
