// The kinds of volume snapshots and the role of their controller, for clusters that are started with them.
import type { Context } from '../../base/observability/context.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Client } from '../../client/client.ts'
import { snapshotDefinitions } from '../../storage/csi/snapshots/snapshot-definitions.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

const role = 'coxswain:snapshot-controller'
const group = 'snapshot.storage.k8s.io'
const read = ['get', 'list', 'watch']

const rules = [
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: read },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: [...read, 'patch', 'update'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  { apiGroups: [group], resources: ['volumesnapshotclasses'], verbs: read },
  {
    apiGroups: [group],
    resources: ['volumesnapshotcontents', 'volumesnapshots'],
    verbs: [...read, 'create', 'delete', 'patch', 'update'],
  },
  {
    apiGroups: [group],
    resources: ['volumesnapshotcontents/status', 'volumesnapshots/status'],
    verbs: ['patch', 'update'],
  },
]

/** Definitions that exist, perhaps of another version, are left unchanged. */
export async function installVolumeSnapshots(client: Client, user: string, context: Context): Promise<void> {
  for (const definition of snapshotDefinitions) {
    const name = `${definition.spec.names.plural}.${group}`
    const object = { ...definition, metadata: { ...definition.metadata, name } }
    await createIfMissing(client, customResourceDefinition, object, context)
  }
  await grant(client, { role, rules, user }, context)
}
