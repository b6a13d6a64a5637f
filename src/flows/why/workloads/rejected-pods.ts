// Why the pods of a workload cannot be created: a quota, a webhook or a policy rejects them.
import { resourceQuota } from '../../../api/core/v1/quota/resource-quota.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf } from '../explainer/explainer.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { quotaCommand } from '../cluster/quota-explainer.ts'

interface Replicated extends ApiObject {
  readonly status?: { readonly conditions?: Parameters<typeof conditionOf>[0] }
}

export async function whyNotCreated(object: Replicated, cluster: ClusterReader): Promise<Finding[]> {
  const failure = conditionOf(object.status?.conditions, 'ReplicaFailure')
  if (failure?.status !== 'True') return []
  return [
    problem(`Its pods cannot be created: ${because(failure)}.`, {
      covers: ['FailedCreate'],
      ...withFix(await quotaFix(object, failure.message ?? '', cluster)),
    }),
  ]
}

const quotaPattern = /exceeded quota: ([^,\s]{1,253}), requested: ([^,=\s]{1,253})=/

/** Raises the quota that rejects the pods. */
async function quotaFix(object: ApiObject, message: string, cluster: ClusterReader): Promise<string | undefined> {
  const [, name = '', resource = ''] = quotaPattern.exec(message) ?? []
  if (name === '') return undefined
  const quota = await cluster.find(resourceQuota, namespaceOf(object), name)
  return quota === undefined ? undefined : quotaCommand(quota, resource)
}
