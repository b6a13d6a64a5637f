// Builders for the default roles. The words of a rule are separated by spaces; `core` is the group with the empty name.
import type { ClusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import type { ClusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import type { Role } from '../../../api/rbac/v1/role.ts'
import type { RoleBinding } from '../../../api/rbac/v1/role-binding.ts'
import { rbacGroup, type PolicyRule, type RoleRef, type Subject } from '../../../api/rbac/v1/policy-rule.ts'
import type { ObjectManifest } from '../../bootstrap/bootstrap-object.ts'

const words = (text: string): string[] => text.split(' ').map((word) => (word === 'core' ? '' : word))

export const on = (verbs: string, apiGroups: string, resources: string, resourceNames = ''): PolicyRule => ({
  verbs: words(verbs),
  apiGroups: words(apiGroups),
  resources: words(resources),
  ...(resourceNames === '' ? {} : { resourceNames: words(resourceNames) }),
})

export const urls = (verbs: string, paths: string): PolicyRule => ({
  verbs: words(verbs),
  nonResourceURLs: words(paths),
})

const apiVersion = `${rbacGroup}/v1`
const aggregationLabel = (role: string): string => `${rbacGroup}/aggregate-to-${role}`

const metadataOf = (name: string, namespace = '', aggregatedTo = '') => ({
  name,
  ...(namespace === '' ? {} : { namespace }),
  labels: {
    'kubernetes.io/bootstrapping': 'rbac-defaults',
    ...(aggregatedTo === '' ? {} : { [aggregationLabel(aggregatedTo)]: 'true' }),
  },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
})

export const clusterRole = (
  name: string,
  rules: readonly PolicyRule[],
  aggregatedTo = '',
): ObjectManifest<ClusterRole> => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: metadataOf(name, '', aggregatedTo),
  rules: [...rules],
})

/** A role that aggregates the rules of the roles with its label. */
export const aggregatedRole = (name: string, aggregatedTo = ''): ObjectManifest<ClusterRole> => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: metadataOf(name, '', aggregatedTo),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(name)]: 'true' } }] },
})

export const role = (namespace: string, name: string, rules: readonly PolicyRule[]): ObjectManifest<Role> => ({
  apiVersion,
  kind: 'Role',
  metadata: metadataOf(name, namespace),
  rules: [...rules],
})

export const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name })
export const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name })
export const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' })

const reference = (kind: string, name: string): RoleRef => ({ apiGroup: rbacGroup, kind, name })

/** A binding of the cluster role with the same name. */
export const clusterRoleBinding = (name: string, ...subjects: Subject[]): ObjectManifest<ClusterRoleBinding> => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: metadataOf(name),
  ...(subjects.length === 0 ? {} : { subjects }),
  roleRef: reference('ClusterRole', name),
})

export const roleBinding = (
  namespace: string,
  name: string,
  roleName: string,
  ...subjects: Subject[]
): ObjectManifest<RoleBinding> => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: metadataOf(name, namespace),
  subjects,
  roleRef: reference('Role', roleName),
})
