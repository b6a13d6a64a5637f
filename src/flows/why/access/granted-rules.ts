// grantsOf: the rules that bindings grant to a ServiceAccount by its name.
import type { ServiceAccount } from '../../../api/core/v1/service-account.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { clusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import type { PolicyRule, RoleRef, Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { role } from '../../../api/rbac/v1/role.ts'
import { roleBinding } from '../../../api/rbac/v1/role-binding.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'

export interface Grant {
  /** `Role default/reader` */
  readonly title: string
  /** The namespace in which the rules apply; empty for the whole cluster. */
  readonly scope: string
  /** Empty if the role does not exist. */
  readonly rules: readonly PolicyRule[]
}

interface Binding extends ApiObject {
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}

export async function grantsOf(account: ServiceAccount, cluster: ClusterReader): Promise<readonly Grant[]> {
  const bindings: readonly Binding[] = [
    ...(await cluster.list(roleBinding, '')),
    ...(await cluster.list(clusterRoleBinding, '')),
  ]
  const own = bindings.filter((binding) => (binding.subjects ?? []).some((subject) => names(subject, binding, account)))
  return Promise.all(own.map((binding) => grantOf(binding, cluster)))
}

function names({ kind, name, namespace }: Subject, binding: Binding, account: ServiceAccount): boolean {
  const { metadata } = account
  const home = namespaceOf(account)
  if (kind === 'User') return name === `system:serviceaccount:${home}:${metadata.name}`
  return kind === 'ServiceAccount' && name === metadata.name && (namespace ?? namespaceOf(binding)) === home
}

async function grantOf(binding: Binding, cluster: ClusterReader): Promise<Grant> {
  const { kind, name } = binding.roleRef
  const scope = namespaceOf(binding)
  const found = kind === 'Role' ? await cluster.find(role, scope, name) : await cluster.find(clusterRole, '', name)
  const title = kind === 'Role' ? `Role ${scope}/${name}` : `ClusterRole ${name}`
  return { title: found === undefined ? `${title} (which does not exist)` : title, scope, rules: found?.rules ?? [] }
}
