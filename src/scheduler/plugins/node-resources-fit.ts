// NodeResourcesFit: the node must have room for the pod's requests; the emptier node is preferred (LeastAllocated).
import { resourcesOf, type Resources } from '../../api/core/v1/requests.ts'
import { defineSchedulerPlugin, fits, scoreMax } from '../framework.ts'
import type { NodeState } from '../snapshot.ts'

export const nodeResourcesFit = defineSchedulerPlugin({
  name: 'NodeResourcesFit',
  weight: 1,
  filter({ pod }, node) {
    const reasons = shortages(resourcesOf(pod.spec), node)
    return reasons.length === 0 ? fits : { kind: 'rejected', reason: reasons.join(', '), resolvable: true }
  },
  score({ pod }, { allocatable, requested }) {
    const wanted = resourcesOf(pod.spec)
    const shares = (['cpuMillis', 'memoryBytes'] as const)
      .filter((name) => allocatable[name] > 0)
      .map((name) => ((allocatable[name] - requested[name] - wanted[name]) * scoreMax) / allocatable[name])
    return shares.length === 0
      ? 0
      : Math.floor(Math.max(0, shares.reduce((sum, share) => sum + share, 0) / shares.length))
  },
  wakesOn: (event) =>
    event.kind !== 'node-changed' || event.before.status.allocatable !== event.node.status.allocatable,
})

function shortages(wanted: Resources, { allocatable, requested, podCount, podsMax }: NodeState): string[] {
  const reasons: string[] = []
  if (podCount + 1 > podsMax) reasons.push('Too many pods')
  if (wanted.cpuMillis > 0 && wanted.cpuMillis > allocatable.cpuMillis - requested.cpuMillis)
    reasons.push('Insufficient cpu')
  if (wanted.memoryBytes > 0 && wanted.memoryBytes > allocatable.memoryBytes - requested.memoryBytes)
    reasons.push('Insufficient memory')
  return reasons
}
