// The metadata that no client can change: identity and times. A namespace that a client sends for a cluster-scoped object is
// ignored.
import type { ApiObject } from '../../api/meta/object.ts'
import { without } from '../../schema/json/json-value.ts'

export function withPreservedMetadata(sent: ApiObject['metadata'], old: ApiObject['metadata']): ApiObject['metadata'] {
  const {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    namespace,
    name,
    resourceVersion,
  } = old
  const isNamespaceIgnored = namespace === undefined && sent.namespace !== undefined
  return {
    ...(isNamespaceIgnored ? without(sent, 'namespace') : sent),
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
    ...(generation !== undefined && { generation }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  }
}
