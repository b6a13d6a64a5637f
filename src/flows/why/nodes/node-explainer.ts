// Explains why a node runs no pods, takes no new ones, or cannot be drained.
import { node, type Node } from '../../../api/core/v1/node/node.ts'
import { because, conditionOf, defineExplainer } from '../explainer/explainer.ts'
import { critical, info, warning, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { simulationNote } from '../explainer/simulated-nodes.ts'
import { whyNotDrained } from './blocked-drain.ts'

/** Why a node does not run pods. */
export function nodeSentences({ status }: Node): string[] {
  const ready = conditionOf(status.conditions, 'Ready')
  if (ready === undefined) return ['Its kubelet has not reported its status yet.']
  if (ready.status === 'Unknown') return [`Its kubelet has stopped reporting: ${because(ready)}.`]
  return ready.status === 'False' ? [`It is not ready: ${because(ready)}.`] : []
}

interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export const taintText = ({ key, value = '', effect }: Taint): string =>
  `${key}${value === '' ? '' : `=${value}`}:${effect}`

/** Taints that the node controller sets with a condition, which is explained itself. */
const conditionTaint = /^node\.kubernetes\.io\//

export const nodeExplainer = defineExplainer({
  kind: node,
  checked: 'its conditions and taints, and what blocks its drain',
  async explain(object, cluster) {
    const { spec, status, metadata } = object
    const pressures = (status.conditions ?? []).filter(
      ({ type, status: value }) => type !== 'Ready' && value === 'True',
    )
    const taints = (spec.taints ?? []).filter(({ key }) => !conditionTaint.test(key))
    const drain = spec.unschedulable ? await whyNotDrained(object, cluster) : []
    // A node that is being drained is cordoned on purpose.
    const uncordon = withFix(drain.length === 0 ? kubectl('', 'uncordon', metadata.name) : undefined)
    return [
      ...nodeSentences(object).map((text) => critical(text)),
      ...pressures.map((condition) => critical(`${condition.type}: ${because(condition)}.`)),
      ...drain,
      ...(spec.unschedulable ? [warning('It is cordoned: no new pods are scheduled on it.', uncordon)] : []),
      ...taints.map((taint) => info(taintSentence(taint))),
      ...simulationNote([object]),
    ] satisfies Finding[]
  },
})

const taintSentence = (taint: Taint): string =>
  `Its taint ${taintText(taint)} ${taint.effect === 'PreferNoSchedule' ? 'discourages' : 'excludes'} pods that do not tolerate it.`
