// The order in which surplus pods are deleted.
import { greatestOf } from '../../base/collections/extremes.ts'
import { isPodReady, readyForMs } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

/**
 * First unassigned, not running and not ready pods, then those with a low deletion cost, with many related pods on
 * their node, ready for the shortest time, with the most restarts, and youngest. Times are compared by order of
 * magnitude; among pods of about the same age the uid decides, so that the node or zone that was filled first is not
 * emptied first.
 */
export function rankedForDeletion(pods: readonly Pod[], related: readonly Pod[], nowMs: number): Pod[] {
  const perNode = new Map<string, number>()
  for (const { spec } of related)
    if (spec.nodeName !== undefined) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1)
  const keys: ((pod: Pod) => number)[] = [
    ({ spec }) => (spec.nodeName === undefined ? 0 : 1),
    ({ status }) => phaseRank[status.phase ?? ''] ?? 0,
    (pod) => (isPodReady(pod) ? 1 : 0),
    deletionCost,
    ({ spec }) => -(perNode.get(spec.nodeName ?? '') ?? 0),
    (pod) => (isPodReady(pod) ? magnitude(readyForMs(pod, nowMs)) : 0),
    (pod) => -mostRestarts(pod),
    ({ metadata }) => magnitude(nowMs - Date.parse(metadata.creationTimestamp)),
  ]
  const ranks = new Map(pods.map((pod) => [pod, keys.map((key) => key(pod))]))
  return pods.toSorted((a, b) => {
    const [left = [], right = []] = [ranks.get(a), ranks.get(b)]
    for (const [index, rank] of left.entries()) if (rank !== right[index]) return rank - (right[index] ?? 0)
    return a.metadata.uid < b.metadata.uid ? -1 : 1
  })
}

/** An invalid cost counts as 0. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[costAnnotation] ?? ''
  return /^-?\d+$/.test(text) ? Number(text) : 0
}

const magnitude = (ms: number): number => (ms <= 0 ? -1 : Math.floor(Math.log2(ms * 1e6)))

const mostRestarts = ({ status }: Pod): number =>
  Math.max(0, greatestOf((status.containerStatuses ?? []).map(({ restartCount }) => restartCount)))
