// The CSIDriver of a simulated storage driver, and the role of its sidecars.
import type { Context } from '../../base/observability/context.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { csiDriver } from '../../api/storage/v1/csi-driver.ts'
import type { Client } from '../../client/client.ts'
import type { StorageConfig } from '../../machine/csi/simulated/storage-system.ts'
import { createIfMissing } from './bootstrap-objects.ts'

const role = 'coxswain:csi-sidecars'
const read = ['get', 'list', 'watch']
const write = [...read, 'create', 'delete', 'patch', 'update']

const rules = [
  { apiGroups: [''], resources: ['nodes', 'secrets'], verbs: read },
  { apiGroups: [''], resources: ['events', 'persistentvolumeclaims', 'persistentvolumes'], verbs: write },
  { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch', 'update'] },
  {
    apiGroups: ['storage.k8s.io'],
    resources: ['csinodes', 'storageclasses', 'volumeattributesclasses'],
    verbs: read,
  },
  { apiGroups: ['storage.k8s.io'], resources: ['csistoragecapacities', 'volumeattachments'], verbs: write },
  { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments/status'], verbs: ['patch', 'update'] },
  { apiGroups: ['snapshot.storage.k8s.io'], resources: ['*'], verbs: write },
]

export async function installCsiDriver(
  client: Client,
  { driverName, mustAttach }: StorageConfig,
  user: string,
  context: Context,
): Promise<void> {
  const spec = { attachRequired: mustAttach, volumeLifecycleModes: ['Persistent', 'Ephemeral'] as const }
  await createIfMissing(client, csiDriver, { metadata: { name: driverName }, spec }, context)
  await createIfMissing(client, clusterRole, { metadata: { name: role }, rules }, context)
  await createIfMissing(
    client,
    clusterRoleBinding,
    {
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
    context,
  )
}
