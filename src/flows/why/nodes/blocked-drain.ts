// Why a cordoned node cannot be drained: the PodDisruptionBudgets of its pods allow no disruption.
import type { Node } from '../../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { isPodFinished } from '../../../api/core/v1/pod/pod-readiness.ts'
import { controllerOf, keyOf, namespaceOf } from '../../../api/meta/object.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../../api/policy/v1/pod-disruption-budget.ts'
import { selects } from '../../../api/selectors/selectors.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { budgetSentence, disruptionCommand } from './budget-explainer.ts'

/** Pods that are named; a drain evicts others after them. */
const podsMax = 5

export async function whyNotDrained({ metadata }: Node, cluster: ClusterReader): Promise<Finding[]> {
  const pods = (await cluster.list(pod, '')).filter(
    (each) => each.spec.nodeName === metadata.name && !isPodFinished(each) && !isDaemon(each),
  )
  const findings: Finding[] = []
  for (const each of pods) {
    const blocking = await blockingBudgets(each, cluster)
    for (const { budget, sentence } of blocking)
      findings.push(
        problem(
          `Its drain is blocked: pod ${keyOf(each)} cannot be evicted because of the PodDisruptionBudget ${budget.metadata.name}. ${sentence}`,
          withFix(await disruptionCommand(each, budget, cluster)),
        ),
      )
    if (findings.length >= podsMax) break
  }
  return findings
}

const isDaemon = (each: Pod): boolean => controllerOf(each)?.kind === 'DaemonSet'

/** The budgets of a pod that allow no disruption, and why. */
export async function blockingBudgets(
  each: Pod,
  cluster: ClusterReader,
): Promise<readonly { readonly budget: PodDisruptionBudget; readonly sentence: string }[]> {
  const budgets = await cluster.list(podDisruptionBudget, namespaceOf(each))
  return budgets
    .filter(({ spec }) => selects(spec.selector, each.metadata.labels))
    .flatMap((budget) => budgetSentence(budget).map((sentence) => ({ budget, sentence })))
}
