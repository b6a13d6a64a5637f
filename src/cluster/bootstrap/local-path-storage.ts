// The StorageClass `local-path` and the permissions of its provisioner.
import type { Context } from '../../base/observability/context.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import type { Client } from '../../client/client.ts'
import { localPathClass } from '../../storage/local-path/local-path-class.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

const role = 'coxswain:local-path'

/** Existing objects are kept, so that users can change the class, for example to make another one the default. */
export async function publishLocalPath(
  client: Client,
  user: string,
  allowsExpansion: boolean,
  context: Context,
): Promise<void> {
  const rules = [
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update'] },
    { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ]
  await grant(client, { role, rules, user }, context)
  await createIfMissing(client, storageClass, localPathClass(allowsExpansion), context)
}
