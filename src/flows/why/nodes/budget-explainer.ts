// Explains why a PodDisruptionBudget allows no disruption.
import { podDisruptionBudget, type PodDisruptionBudget } from '../../../api/policy/v1/pod-disruption-budget.ts'
import { defineExplainer, plural } from '../explainer/explainer.ts'
import { warning } from '../explainer/finding.ts'

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
  explain: (budget) => Promise.resolve(budgetSentence(budget).map((text) => warning(text))),
})
