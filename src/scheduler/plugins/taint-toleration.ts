// TaintToleration: no pod on a node whose taints it does not tolerate; few untolerated soft taints are preferred.
import { untoleratedTaint, tolerates } from '../../api/core/v1/tolerations.ts'
import { equalValues } from '../../schema/json-value.ts'
import { defineSchedulerPlugin, fits, scoreMax } from '../framework.ts'

export const taintToleration = defineSchedulerPlugin({
  name: 'TaintToleration',
  weight: 3,
  filter({ pod }, { node }) {
    const taint = untoleratedTaint(node.spec.taints ?? [], pod.spec.tolerations ?? [], ['NoSchedule', 'NoExecute'])
    if (taint === undefined) return fits
    return {
      kind: 'rejected',
      reason: `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`,
      resolvable: false,
    }
  },
  score: ({ pod }, { node }) =>
    (node.spec.taints ?? []).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations ?? [], taint),
    ).length,
  // The most soft taints score 0, none scores the maximum.
  normalizeScores(scores) {
    const most = Math.max(0, ...scores.values())
    for (const [name, count] of scores)
      scores.set(name, most === 0 ? scoreMax : scoreMax - Math.floor((count * scoreMax) / most))
  },
  wakesOn: (event) =>
    event.kind === 'node-added' ||
    (event.kind === 'node-changed' && !equalValues(event.before.spec.taints, event.node.spec.taints)),
})
