// grant: a ClusterRole with these rules, bound to the user of a component or to a group. Existing objects are kept, because
// users may have changed them.
import type { PolicyRule } from '../../api/rbac/v1/policy-rule.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { createIfMissing } from './bootstrap-objects.ts'

export type Grant = {
  readonly role: string
  readonly rules: readonly PolicyRule[]
} & ({ readonly user: string } | { readonly group: string })

export async function grant(client: Client, granted: Grant, context: Context): Promise<void> {
  const { role, rules } = granted
  const subject = 'user' in granted ? { kind: 'User', name: granted.user } : { kind: 'Group', name: granted.group }
  await createIfMissing(client, clusterRole, { metadata: { name: role }, rules }, context)
  await createIfMissing(
    client,
    clusterRoleBinding,
    {
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
    },
    context,
  )
}
