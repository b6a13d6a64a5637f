// nodeMismatches: why the nodes do not fit a pod: taints, labels and free resources. Reasons that only the scheduler knows,
// such as the affinity between pods, are in its own message.
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { templateOwnerOf } from '../explainer/template-owner.ts'
import { insufficientResources } from './insufficient-resources.ts'
import { nodesText } from './nodes-text.ts'
import { unmatchedLabels } from './unmatched-labels.ts'
import { untoleratedTaints } from './untolerated-taints.ts'

export async function nodeMismatches(
  object: Pod,
  nodes: readonly Node[],
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  if (nodes.length === 0)
    return cluster.unreadable?.has('nodes') ? [] : [problem('The cluster has no node. coxswain kubelet adds one.')]
  const owner = await templateOwnerOf(object, cluster)
  const shut = untoleratedTaints(object, nodes, owner).nodes
  const isOpen = (each: Node) => each.spec.unschedulable !== true && !shut.has(each)
  // A node that is open is labelled rather than another one.
  const labelled = unmatchedLabels(object, [...nodes.filter(isOpen), ...nodes.filter((each) => !isOpen(each))], owner)
  const matching = nodes.filter((each) => !labelled.nodes.has(each))
  const candidates = matching.length > 0 ? matching : nodes
  const free = candidates.filter(isOpen)
  const resources = await insufficientResources(object, free.length > 0 ? free : candidates, owner, cluster)
  // Where one label is enough, other obstacles of nodes without it do not matter.
  if (matching.length === 0 && free.length > 0) return [...labelled.findings, ...resources]
  const cordoned = candidates.filter(({ spec }) => spec.unschedulable)
  const tainted = untoleratedTaints(
    object,
    candidates.filter(({ spec }) => !spec.unschedulable),
    owner,
  )
  return [
    ...labelled.findings,
    ...tainted.findings,
    ...resources,
    ...(cordoned.length === 0 ? [] : [cordonedFinding(cordoned)]),
  ]
}

function cordonedFinding(cordoned: readonly Node[]): Finding {
  const names = cordoned.map(({ metadata }) => metadata.name)
  return problem(
    `${nodesText(names)} ${names.length === 1 ? 'is' : 'are'} cordoned.`,
    withFix(kubectl('', 'uncordon', ...names)),
  )
}
