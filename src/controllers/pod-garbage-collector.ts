// Pod garbage collector: deletes pods of nodes that no longer exist or are out of service, pods that were deleted
// before they were scheduled, and the oldest finished pods beyond a limit.
import { isNodeReady, node, type Node } from '../api/core/v1/node/node.ts'
import { isPodFinished } from '../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { isBeingDeleted, keyOf } from '../api/meta/object.ts'
import type { Context } from '../base/observability/context.ts'
import { defineController, type ObjectIndex, type ReconcileTools } from './runtime/controller.ts'
import { removePod } from './workload/remove-pod.ts'
import { podsByNode } from './workload/pods-by-node.ts'

export const finishedPodsMaxDefault = 12_500
/** The shortest time between two counts of finished pods. */
const countMs = 20_000
/** A deleted node may be registered again. */
const quarantineMs = 40_000
const outOfService = 'node.kubernetes.io/out-of-service'

const finishedKey = ''
const finishedPods: ObjectIndex<Pod> = {
  kind: pod,
  name: 'finished',
  valuesOf: (object) => (isPodFinished(object) ? [finishedKey] : []),
}

interface State {
  readonly missingSinceMs: Map<string, number>
  countedMs: number
}

type Tools = ReconcileTools<State>

export const podGarbageCollector = defineController({
  name: 'pod-garbage-collector',
  account: 'pod-garbage-collector',
  watches: [node, pod],
  indexes: [podsByNode, finishedPods],
  state: (): State => ({ missingSinceMs: new Map(), countedMs: 0 }),
  enqueues(kind, { key, now }, { cached, byIndex, state }) {
    if (kind.kind === node.kind) {
      if (now !== undefined) state.missingSinceMs.delete(key)
      const isNodeLost = now === undefined || isOutOfService(now as Node)
      return isNodeLost ? byIndex(podsByNode, key).map(keyOf) : []
    }
    if (now === undefined) return []
    const object = now as Pod
    const { nodeName } = object.spec
    const boundNode = nodeName === undefined ? undefined : cached(node, nodeName)
    const isLost =
      nodeName === undefined ? isBeingDeleted(object) : boundNode === undefined || isOutOfService(boundNode)
    return [...(isLost ? [key] : []), ...(isPodFinished(object) ? [finishedKey] : [])]
  },
  async reconcile(key, tools, context) {
    if (key === finishedKey) return removeFinished(tools, context)
    const object = tools.cached(pod, key)
    if (object === undefined) return undefined
    const { nodeName } = object.spec
    const boundNode = nodeName === undefined ? undefined : tools.cached(node, nodeName)
    if (nodeName !== undefined && boundNode === undefined) return removeOrphan(object, nodeName, tools, context)
    if (isBeingDeleted(object) && (boundNode === undefined || isOutOfService(boundNode)))
      await removePod(object, { isForced: true }, tools, context)
    return undefined
  },
})

const isOutOfService = (object: Node): boolean =>
  !isNodeReady(object) && (object.spec.taints?.some(({ key }) => key === outOfService) ?? false)

async function removeOrphan(object: Pod, nodeName: string, tools: Tools, context: Context) {
  const { state, nowMs, client } = tools
  const sinceMs = state.missingSinceMs.get(nodeName) ?? nowMs
  state.missingSinceMs.set(nodeName, sinceMs)
  const leftMs = sinceMs + quarantineMs - nowMs
  if (leftMs > 0) return leftMs
  // The cache may be stale, so the API server is queried before anything is deleted.
  if ((await client.of(node).find(nodeName, '', context)) !== undefined) return undefined
  const why = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }
  await removePod(object, { why, isForced: true }, tools, context)
  return undefined
}

/** The pods beyond the limit: evicted ones first, then the oldest. */
export function surplus(finished: readonly Pod[], max: number): Pod[] {
  const rank = ({ status }: Pod) => (status.phase === 'Failed' && status.reason === 'Evicted' ? 0 : 1)
  const created = ({ metadata }: Pod) => metadata.creationTimestamp ?? ''
  return finished
    .toSorted((a, b) => rank(a) - rank(b) || (created(a) < created(b) ? -1 : 1))
    .slice(0, Math.max(0, finished.length - max))
}

async function removeFinished(tools: Tools, context: Context): Promise<number | undefined> {
  const { state, nowMs, byIndex, settings } = tools
  const { finishedPodsMax = finishedPodsMaxDefault } = settings
  if (finishedPodsMax === 0) return undefined
  const waitMs = state.countedMs + countMs - nowMs
  if (waitMs > 0) return waitMs
  state.countedMs = nowMs
  const finished = byIndex(finishedPods, finishedKey).filter((object) => !isBeingDeleted(object))
  for (const object of surplus(finished, finishedPodsMax)) await removePod(object, { isForced: true }, tools, context)
  return undefined
}
