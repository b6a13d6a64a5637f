// Explains why a namespace is not deleted: which objects are left in it, and what each waits for.
import { apiService } from '../../../api/apiregistration/v1/api-service.ts'
import { namespace, type Namespace } from '../../../api/core/v1/namespace.ts'
import { isBeingDeleted, type ApiObject } from '../../../api/meta/object.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, defineExplainer } from '../explainer/explainer.ts'
import { apiServiceExplainer } from './extension-explainers.ts'
import { finalizerFindings } from '../explainer/finalizer-removers.ts'
import { problem, warning, withFix, type Finding } from '../explainer/finding.ts'

/** Objects that are explained; the condition counts the others. */
const objectsMax = 10

export const namespaceExplainer = defineExplainer({
  kind: namespace,
  checked: 'its conditions',
  async explain(object, cluster) {
    if (!isBeingDeleted(object)) return []
    const conditions = (object.status.conditions ?? []).filter(({ status }) => status === 'True')
    return [
      ...(await remainingObjects(object, cluster)),
      ...(conditions.some(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')
        ? await absentServers(cluster)
        : []),
      ...conditions.map((condition) => warning(`${because(condition)}.`)),
    ]
  },
})

/** Extension servers that do not answer: nothing in the namespace is deleted before it is known what is in it. */
async function absentServers(cluster: ClusterReader): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const each of await cluster.list(apiService, ''))
    for (const { text, fix } of await apiServiceExplainer.explain(each, cluster))
      findings.push(problem(`The APIService ${each.metadata.name} delays it: ${text}`, withFix(fix)))
  return findings
}

/** `configmaps. has 1 resource instances`, `widgets.example.com has 2 resource instances` */
const remainingPattern = /^(\S{1,317}) has \d{1,10} resource instances$/

/** The objects of the resources that the namespace controller reports. */
async function remainingObjects({ metadata, status }: Namespace, cluster: ClusterReader): Promise<Finding[]> {
  const remaining = status.conditions?.find(
    ({ type, status: value }) => type === 'NamespaceContentRemaining' && value === 'True',
  )
  const findings: Finding[] = []
  for (const part of (remaining?.message ?? '').split(/[:,] /)) {
    const resource = remainingPattern.exec(part)?.[1]?.replace(/\.$/, '')
    const kind = resource === undefined ? undefined : await cluster.kindOfResource?.(resource)
    if (kind === undefined) continue
    for (const each of await cluster.list(kind, metadata.name)) {
      if (findings.length >= objectsMax) return findings
      findings.push(remainingFinding(kind, each))
    }
  }
  return findings
}

function remainingFinding(kind: Kind, object: ApiObject): Finding {
  const title = `The ${kind.kind} ${object.metadata.name} is left in it:`
  const [waiting] = finalizerFindings(kind, object)
  return waiting === undefined
    ? problem(`${title} it is not deleted yet.`)
    : { ...waiting, text: `${title} ${waiting.text.charAt(0).toLowerCase()}${waiting.text.slice(1)}` }
}
