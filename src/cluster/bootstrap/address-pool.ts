// What the announcers of load balancer addresses need: a namespace for their Leases, and the permission to use them. Those
// of other machines use the ServiceAccount `announcer`: a kubelet may not hold other Leases than its own.
import { namespace } from '../../api/core/v1/namespace.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import { role } from '../../api/rbac/v1/role.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { announcerNamespace } from '../../cloud/address-pool/address-announcer.ts'
import { createIfMissing } from './bootstrap-objects.ts'

const name = 'announcer'
const apiGroup = 'rbac.authorization.k8s.io'

/** `user` announces addresses on the machine of this process. */
export async function installAnnouncers(client: Client, user: string, context: Context): Promise<void> {
  const metadata = { name, namespace: announcerNamespace }
  const account = { kind: 'ServiceAccount', name, namespace: announcerNamespace }
  const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] }]
  await createIfMissing(client, namespace, { metadata: { name: announcerNamespace } }, context)
  await createIfMissing(client, serviceAccount, { metadata }, context)
  await createIfMissing(client, role, { metadata, rules }, context)
  const roleRef = { apiGroup, kind: 'Role', name }
  const subjects = [account, { apiGroup, kind: 'User', name: user }]
  await createIfMissing(client, roleBinding, { metadata, roleRef, subjects }, context)
  const reader = {
    metadata: { name: 'coxswain:announcer' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-proxier' },
    subjects: [account],
  }
  await createIfMissing(client, clusterRoleBinding, reader, context)
}
