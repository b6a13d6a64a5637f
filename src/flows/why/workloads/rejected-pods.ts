// Why the pods of a workload cannot be created: a quota, a webhook or a policy rejects them, or their ServiceAccount is missing.
import { resourceQuota } from '../../../api/core/v1/quota/resource-quota.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { quantityNanos } from '../../../schema/scalar/quantity.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf } from '../explainer/explainer.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import type { TemplateOwner } from '../explainer/template-owner.ts'
import { quotaCommand } from '../cluster/quota-explainer.ts'

interface Replicated extends ApiObject {
  readonly spec: { readonly replicas: number }
  readonly status?: { readonly replicas?: number; readonly conditions?: Parameters<typeof conditionOf>[0] }
}

/** `owner`: where its template is changed. */
export async function whyNotCreated(
  object: Replicated,
  owner: TemplateOwner,
  cluster: ClusterReader,
): Promise<Finding[]> {
  const failure = conditionOf(object.status?.conditions, 'ReplicaFailure')
  if (failure?.status !== 'True') return []
  const { message = '' } = failure
  const fix = accountFix(message) ?? unsetFix(message, owner) ?? (await quotaFix(object, message, cluster))
  return [problem(`Its pods cannot be created: ${because(failure)}.`, { covers: ['FailedCreate'], ...withFix(fix) })]
}

const accountPattern =
  /error looking up service account ([^/\s]{1,63})\/([^:\s]{1,253}): serviceaccount "[^"]{1,253}" not found/

function accountFix(message: string): string | undefined {
  const [, home, name] = accountPattern.exec(message) ?? []
  return home === undefined || name === undefined ? undefined : kubectl(home, 'create', 'serviceaccount', name)
}

const unsetBeginning = ': must specify '
const unsetPartPattern = /^(?:(requests|limits)\.)?(cpu|memory) for: (\S{1,500})$/

/** Requests that are usual for a small program. Limits are left to the reader, because too low ones end it. */
const usualRequests = { cpu: '100m', memory: '128Mi' } as const

/** Sets what a quota counts and containers do not specify. */
function unsetFix(message: string, owner: TemplateOwner): string | undefined {
  const [, unset = ''] = message.split(unsetBeginning)
  const parts = unset.split('; ')
  const commands = parts.flatMap((part) => {
    const [, place = 'requests', resource, containers] = unsetPartPattern.exec(part) ?? []
    if (containers === undefined) return []
    const amount = place === 'limits' ? 'AMOUNT' : usualRequests[resource as keyof typeof usualRequests]
    return containers
      .split(',')
      .map((name) =>
        kubectl(
          owner.namespace,
          'set',
          'resources',
          owner.target,
          '-c',
          name,
          `--${place}=${resource ?? ''}=${amount}`,
        ),
      )
  })
  return commands.length === 0 ? undefined : commands.join(' && ')
}

const quotaPattern = /exceeded quota: ([^,\s]{1,253}), requested: ([^,=\s]{1,253})=([^,\s]{1,64})/

/** Raises the quota that rejects the pods, so that all of them can be created. */
async function quotaFix(object: Replicated, message: string, cluster: ClusterReader): Promise<string | undefined> {
  const [, name = '', resource = '', requested = ''] = quotaPattern.exec(message) ?? []
  if (name === '') return undefined
  const quota = await cluster.find(resourceQuota, namespaceOf(object), name)
  const missing = BigInt(Math.max(0, object.spec.replicas - (object.status?.replicas ?? 0)))
  return quota === undefined ? undefined : quotaCommand(quota, resource, missing * (quantityNanos(requested) ?? 0n))
}
