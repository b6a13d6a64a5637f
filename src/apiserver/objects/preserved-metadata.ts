// The metadata that no client can change: identity and times.
import type { ApiObject } from '../../api/meta/object.ts'

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
  return {
    ...sent,
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
