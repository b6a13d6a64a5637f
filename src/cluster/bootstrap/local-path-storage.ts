// The StorageClass `local-path` and the permissions of its provisioners: that of this cluster's own nodes, and those that
// kubelets in other processes run under a ServiceAccount.
import type { Context } from '../../base/observability/context.ts'
import { storageClass } from '../../api/storage/v1/storage-class.ts'
import type { Client } from '../../client/client.ts'
import { localPathClass } from '../../storage/local-path/local-path-class.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { localPathAgent } from '../../apiserver/authorization/node/node-agents.ts'
import { grant } from './grant.ts'

const role = 'coxswain:local-path'
const nodeRole = 'coxswain:local-path-node'

/** NodeRestriction limits the writes of a node's provisioner to volumes of that node. */
const nodeRules = [
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list', 'watch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['list', 'watch'] },
]

/** Kubelets in other processes have these permissions for the claims of their pods. */
const expansionRules = [
  { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
]

/** Existing objects are kept, so that users can change the class, for example to make another one the default. */
export async function publishLocalPath(
  client: Client,
  user: string,
  allowsExpansion: boolean,
  context: Context,
): Promise<void> {
  await grant(client, { role, rules: [...nodeRules, ...expansionRules], user }, context)
  await grant(client, { role: nodeRole, rules: nodeRules, nodeAgent: localPathAgent }, context)
  await createIfMissing(client, storageClass, localPathClass(allowsExpansion), context)
}
