// Explains why a PodDisruptionBudget allows no disruption, and what allows one.
import { podDisruptionBudget, type PodDisruptionBudget } from '../../../api/policy/v1/pod-disruption-budget.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { defineExplainer, plural } from '../explainer/explainer.ts'
import { warning, withFix } from '../explainer/finding.ts'
import { kubectl, mergePatch } from '../explainer/fix-command.ts'
import { templateOwnerOf } from '../explainer/template-owner.ts'

/** Empty if it allows a disruption. */
export function budgetSentence({ status }: PodDisruptionBudget): string[] {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status
  if (disruptionsAllowed > 0) return []
  if (expectedPods === 0) return ['It allows no disruption: no pod matches its selector.']
  return [
    `It allows no disruption: ${currentHealthy} of ${plural(expectedPods, 'pod')} ${currentHealthy === 1 ? 'is' : 'are'} healthy, and ${desiredHealthy} must be.`,
  ]
}

export const budgetExplainer = defineExplainer({
  kind: podDisruptionBudget,
  checked: 'the number of healthy pods',
  async explain(budget, cluster) {
    const [text] = budgetSentence(budget)
    if (text === undefined) return []
    const pods = await cluster.list(pod, namespaceOf(budget))
    const one = pods.find(({ metadata }) => selects(budget.spec.selector, metadata.labels))
    return [warning(text, withFix(one && (await disruptionCommand(one, budget, cluster))))]
  },
})

/** One more replica, so that a pod can be evicted, or a smaller budget; undefined where pods first have to become healthy. */
export async function disruptionCommand(
  each: Pod,
  { metadata, spec, status }: PodDisruptionBudget,
  cluster: ClusterReader,
): Promise<string | undefined> {
  if (status.currentHealthy < status.desiredHealthy) return undefined
  const home = namespaceOf(each)
  const owner = await templateOwnerOf(each, cluster)
  if (owner.isScalable) return kubectl(home, 'scale', owner.target, `--replicas=${status.expectedPods + 1}`)
  const change = spec.maxUnavailable === undefined ? { minAvailable: status.desiredHealthy - 1 } : { maxUnavailable: 1 }
  return mergePatch(`pdb/${metadata.name}`, home, { spec: change })
}
