// grant: a ClusterRole with these rules, bound to the user of a component or to an agent of all nodes. Existing objects are
// kept, because users may have changed them; but a binding to the group of nodes, as earlier versions created it, is removed:
// a role of an agent is more than a kubelet may do.
import type { PolicyRule } from '../../api/rbac/v1/policy-rule.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { nodeAgentNamespace } from '../../apiserver/authorization/node/node-agents.ts'
import { nodesGroup } from '../../apiserver/authorization/node/node-user.ts'
import { createIfMissing } from './bootstrap-objects.ts'

const apiGroup = 'rbac.authorization.k8s.io'

export interface Grant {
  readonly role: string
  readonly rules: readonly PolicyRule[]
  readonly user?: string
  /** A ServiceAccount whose tokens nodes may request. */
  readonly nodeAgent?: string
}

export async function grant(client: Client, { role, rules, ...subjects }: Grant, context: Context): Promise<void> {
  await createIfMissing(client, clusterRole, { metadata: { name: role }, rules }, context)
  await bindRole(client, { binding: role, role, ...subjects }, context)
}

export interface RoleBinding extends Omit<Grant, 'rules'> {
  readonly binding: string
}

/** Binds an existing ClusterRole. */
export async function bindRole(
  client: Client,
  { binding: name, role, user, nodeAgent }: RoleBinding,
  context: Context,
): Promise<void> {
  const account = { name: nodeAgent ?? '', namespace: nodeAgentNamespace }
  const subjects = [
    ...(nodeAgent === undefined ? [] : [{ kind: 'ServiceAccount', ...account }]),
    ...(user === undefined ? [] : [{ apiGroup, kind: 'User', name: user }]),
  ]
  if (nodeAgent !== undefined) {
    await createIfMissing(client, serviceAccount, { metadata: account }, context)
    await unbindNodes(client, name, subjects, context)
  }
  const roleRef = { apiGroup, kind: 'ClusterRole', name: role }
  await createIfMissing(client, clusterRoleBinding, { metadata: { name }, roleRef, subjects }, context)
}

async function unbindNodes(client: Client, name: string, subjects: readonly object[], context: Context): Promise<void> {
  const bindings = client.of(clusterRoleBinding)
  const found = await bindings.find(name, '', context)
  if (found?.subjects?.some((subject) => subject.kind === 'Group' && subject.name === nodesGroup))
    await bindings.patch(name, '', { subjects }, 'merge', context)
}
