// Explains why a pod is not scheduled, not started, not ready, failed, or not deleted yet. Each cause has a file of its own.
import { node } from '../../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { because, conditionOf, defineExplainer } from '../explainer/explainer.ts'
import { info, problem, warning, type Finding } from '../explainer/finding.ts'
import { simulationNote } from '../explainer/simulated-nodes.ts'
import { blockingBudgets } from '../nodes/blocked-drain.ts'
import { nodeSentences } from '../nodes/node-explainer.ts'
import { containerFindings, endedFindings } from './container-findings.ts'
import { whyUnscheduled } from './unscheduled.ts'

export const podExplainer = defineExplainer({
  kind: pod,
  checked: 'its node, its containers and its readiness',
  async explain(object, cluster) {
    const boundNode = object.spec.nodeName === undefined ? [] : [await cluster.find(node, '', object.spec.nodeName)]
    const nodes = object.spec.nodeName === undefined ? await cluster.list(node, '') : boundNode
    return [
      ...(await whyPod(object, cluster)),
      ...(await whyNotEvicted(object, cluster)),
      ...simulationNote(nodes.filter((each) => each !== undefined)),
    ]
  },
})

/** Why a pod does not run: problems of its node, then its own. */
export async function whyPod(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const { nodeName } = object.spec
  const own = await whyItself(object, cluster)
  if (nodeName === undefined || ['Succeeded', 'Failed'].includes(object.status.phase ?? '')) return own
  const boundNode = await cluster.find(node, '', nodeName)
  if (boundNode === undefined)
    return cluster.unreadable?.has('nodes') ? own : [problem(`Its node ${nodeName} does not exist.`), ...own]
  const sentences = nodeSentences(boundNode)
  return [...sentences.map((sentence) => problem(`Its node ${nodeName} has a problem: ${sentence}`)), ...own]
}

/** Why a pod cannot be evicted from a cordoned node: its budgets allow no disruption. */
async function whyNotEvicted(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const { metadata, spec } = object
  if (spec.nodeName === undefined || metadata.deletionTimestamp !== undefined) return []
  const boundNode = await cluster.find(node, '', spec.nodeName)
  if (!boundNode?.spec.unschedulable) return []
  return (await blockingBudgets(object, cluster)).map(({ budget, sentence }) =>
    warning(
      `It cannot be evicted from its cordoned node ${spec.nodeName} because of the PodDisruptionBudget ${budget.metadata.name}: ${sentence}`,
    ),
  )
}

async function whyItself(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const { metadata, spec, status } = object
  const { phase = 'Pending', conditions, initContainerStatuses = [], containerStatuses = [] } = status
  if (metadata.deletionTimestamp !== undefined)
    return [
      warning(
        spec.nodeName === undefined
          ? 'It is being deleted and was never scheduled.'
          : `It is being deleted: the kubelet of ${spec.nodeName} stops its containers by ${metadata.deletionTimestamp} (grace period ${metadata.deletionGracePeriodSeconds ?? 0} s).`,
      ),
    ]
  if (phase === 'Succeeded') return [info('It has completed successfully.')]
  if (phase === 'Failed') return whyFailed(object, cluster)
  if (spec.nodeName === undefined) return whyUnscheduled(object, cluster)
  const init = initContainerStatuses.find((each) => !each.ready && each.state?.terminated?.exitCode !== 0)
  if (init !== undefined) {
    const waiting = `It waits for its init container ${init.name}.`
    return init.state?.running === undefined
      ? [warning(waiting), ...(await containerFindings(object, init, cluster))]
      : [warning(`${waiting} Container ${init.name} has been running since ${init.state.running.startedAt ?? 'now'}.`)]
  }
  if (containerStatuses.length === 0)
    return [warning(`It is scheduled on ${spec.nodeName}, but the kubelet has not reported its containers yet.`)]
  const gates = (spec.readinessGates ?? []).filter(
    ({ conditionType }) => conditionOf(conditions, conditionType)?.status !== 'True',
  )
  const findings: Finding[] = []
  for (const each of containerStatuses) findings.push(...(await containerFindings(object, each, cluster)))
  return [...findings, ...gates.map(({ conditionType }) => warning(`Its readiness gate ${conditionType} is not True.`))]
}

/** Why a pod has failed: its own reason and its failed containers. Never empty. */
async function whyFailed(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const { reason = '', message = '', initContainerStatuses = [], containerStatuses = [] } = object.status
  const failed = [...initContainerStatuses, ...containerStatuses].filter(
    ({ state }) => (state?.terminated?.exitCode ?? 0) !== 0,
  )
  const ended: Finding[] = []
  for (const each of failed) ended.push(...(await endedFindings(object, each, cluster)))
  const own = reason === '' && message === '' ? [] : [problem(`${because({ reason, message })}.`)]
  const [first = problem('its status gives no reason.'), ...rest] = [...own, ...ended]
  return [{ ...first, text: `It has failed: ${first.text}` }, ...rest]
}
