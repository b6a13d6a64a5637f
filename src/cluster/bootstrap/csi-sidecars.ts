// The CSIDriver of a simulated storage driver, and the role of its sidecars.
import type { Context } from '../../base/observability/context.ts'
import { csiDriver } from '../../api/storage/v1/csi-driver.ts'
import type { Client } from '../../client/client.ts'
import type { StorageConfig } from '../../machine/csi/simulated/storage-system.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

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
  await grant(client, { role, rules, user }, context)
}
