// podsOf: why pods of a workload are not ready; pods with similar reasons are grouped.
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { isPodReady } from '../../../api/core/v1/pod/pod-readiness.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { plural } from '../explainer/explainer.ts'
import { problem, together, type Finding } from '../explainer/finding.ts'
import { simulationNote } from '../explainer/simulated-nodes.ts'
import { whyPod } from '../pods/pod-explainer.ts'

export const ownedBy = (owner: ApiObject, { metadata }: ApiObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid)

/** Pods whose reasons are examined; the others of a large workload usually have the same ones. */
const podsMax = 100

/** `earlier`: owners whose pods were made from an earlier template. Commands would change a template that is not theirs. */
export async function whyPodsOf(
  current: readonly ApiObject[],
  cluster: ClusterReader,
  earlier: readonly ApiObject[] = [],
): Promise<Finding[]> {
  const owners = [...current, ...earlier]
  const [first] = owners
  if (first === undefined) return []
  const all = await cluster.list(pod, namespaceOf(first))
  const owned = all.filter((each) => owners.some((owner) => ownedBy(owner, each)))
  const reasons = new Map<Pod, Finding>()
  const unreadyFirst = owned.toSorted((a, b) => Number(isPodReady(a)) - Number(isPodReady(b)))
  for (const each of unreadyFirst.slice(0, podsMax)) {
    const found = (await whyPod(each, cluster)).filter(({ severity }) => severity !== 'info')
    if (found.length > 0) reasons.set(each, together(found))
    else if (!isPodReady(each) && each.status.phase !== 'Succeeded')
      reasons.set(each, problem('not ready yet; its status gives no reason.'))
  }
  const isEarlier = (each: Pod) => earlier.some((owner) => ownedBy(owner, each))
  const byReason = Map.groupBy(
    [...reasons].toSorted(([a], [b]) => Number(isEarlier(a)) - Number(isEarlier(b))),
    ([each, { text }]) => `${isEarlier(each)} ${generalReason(text, each)}`,
  )
  const findings = [...byReason.values()].flatMap((group) => {
    const [first_] = group
    if (first_ === undefined) return []
    const [{ metadata }, reason] = first_
    const others = group.length - 1
    const who =
      others === 0
        ? `Pod ${metadata.name}`
        : `${plural(group.length, 'pod')} (${metadata.name} and ${plural(others, 'other')})`
    if (!isEarlier(first_[0])) return [{ ...reason, text: `${who}: ${reason.text}`, about: first_[0] }]
    const { fix: _, ...withoutFix } = reason
    return [{ ...withoutFix, text: `${who} of an earlier revision: ${reason.text}`, about: first_[0] }]
  })
  return [...findings, ...(findings.length === 0 ? [] : await simulatedNodesOf([...reasons.keys()], cluster))]
}

/** The simulated nodes of these pods; of a pod without a node, all nodes. */
export async function simulatedNodesOf(pods: readonly Pod[], cluster: ClusterReader): Promise<Finding[]> {
  const nodes = await cluster.list(node, '')
  const names = new Set(pods.map(({ spec }) => spec.nodeName))
  return simulationNote(names.has(undefined) ? nodes : nodes.filter(({ metadata }) => names.has(metadata.name)))
}

/** `10s`, `1m20s`, `2.5s` */
const isDuration = /^\d+(\.\d+)?(ms|s|m|h)(\d+s)?$/

/** A reason without what differs between pods: names, ids, addresses, times and counts. */
function generalReason(reason: string, { metadata, spec, status }: Pod): string {
  let general = reason
  for (const own of [metadata.name, metadata.uid, spec.nodeName, status.podIP])
    if (own !== undefined && own !== '') general = general.replaceAll(own, '*')
  return general
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'T')
    .replaceAll(/(restarted |\()\d+ times?/g, '$1N times')
    .split(' ')
    .map((word) => (isDuration.test(word) ? 'D' : word))
    .join(' ')
}
