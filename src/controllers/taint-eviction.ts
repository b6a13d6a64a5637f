// Taint eviction: deletes pods from nodes with NoExecute taints, after the time for which they tolerate the taints.
import { leastOf } from '../base/collections/extremes.ts'
import { node, type Node, type Taint } from '../api/core/v1/node/node.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { tolerates } from '../api/core/v1/node/tolerations.ts'
import { isBeingDeleted, keyOf } from '../api/meta/object.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { EventNote } from '../client/events/event-recorder.ts'
import { defineController } from './runtime/controller.ts'
import { removePod } from './workload/remove-pod.ts'
import { podsByNode } from './workload/pods-by-node.ts'
import { secondsAsMs } from '../schema/scalar/int64.ts'

const eventReason = 'TaintManagerEviction'
const why = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }

export const executing = ({ spec }: Node): readonly Taint[] =>
  (spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute')

/** For how long the pod tolerates all of these taints; Infinity when it tolerates them without a limit. */
export function stayMs({ spec: { tolerations = [] } }: Pod, taints: readonly Taint[]): number {
  const used = taints.map((taint) => tolerations.filter((toleration) => tolerates([toleration], taint)))
  if (used.some((matching) => matching.length === 0)) return 0
  const timesMs = used
    .flat()
    .map(({ tolerationSeconds }) => (tolerationSeconds === undefined ? Infinity : secondsAsMs(tolerationSeconds)))
  return Math.max(0, leastOf(timesMs))
}

const note = (message: string): EventNote => ({ type: 'Normal', reason: eventReason, message })

export const taintEvictionController = defineController({
  name: 'taint-eviction',
  account: 'node-controller',
  component: 'taint-eviction-controller',
  watches: [node, pod],
  indexes: [podsByNode],
  /**
   * When the toleration of a pod began, by uid; and the pods that have been evicted: the cache has the condition that an
   * eviction sets before it has the deletion.
   */
  state: () => ({ sinceMs: new Map<string, number>(), evicted: new Set<string>() }),
  enqueues(kind, { key, now, before }, { cached, byIndex, state }) {
    if (kind.kind === pod.kind) {
      if (now === undefined) {
        if (before !== undefined) for (const known of [state.sinceMs, state.evicted]) known.delete(before.metadata.uid)
        return []
      }
      const boundNode = cached(node, (now as Pod).spec.nodeName ?? '')
      // A change of the node's NoExecute taints enqueues its pods. On other nodes only a pod with a pending eviction
      // matters.
      const isNodeTainted = boundNode !== undefined && executing(boundNode).length > 0
      return isNodeTainted || state.sinceMs.has(now.metadata.uid) ? [key] : []
    }
    if (now === undefined) return []
    const taints = executing(now as Node)
    const known = before === undefined ? [] : executing(before as Node)
    return equalValues(taints, known) ? [] : byIndex(podsByNode, key).map(keyOf)
  },
  async reconcile(key, tools, context) {
    const { cached, state, nowMs, recordEvent, metrics } = tools
    const object = cached(pod, key)
    if (object === undefined || isBeingDeleted(object)) return undefined
    const { uid } = object.metadata
    if (state.evicted.has(uid)) return undefined
    const boundNode = cached(node, object.spec.nodeName ?? '')
    const taints = boundNode === undefined ? [] : executing(boundNode)
    const allowedMs = taints.length === 0 ? Infinity : stayMs(object, taints)
    if (allowedMs === Infinity) {
      if (state.sinceMs.delete(uid)) recordEvent(object, note(`Cancelling deletion of Pod ${key}`), context)
      return undefined
    }
    const sinceMs = state.sinceMs.get(uid) ?? nowMs
    const leftMs = sinceMs + allowedMs - nowMs
    if (leftMs > 0) {
      state.sinceMs.set(uid, sinceMs)
      return leftMs
    }
    recordEvent(object, note(`Marking for deletion Pod ${key}`), context)
    state.evicted.add(uid)
    try {
      await removePod(object, { why, isForced: false }, tools, context)
    } catch (error) {
      state.evicted.delete(uid)
      throw error
    }
    state.sinceMs.delete(uid)
    metrics.taintEvictions.add({})
    metrics.taintEvictionSeconds.observe({}, (tools.nowMs - sinceMs - allowedMs) / 1000)
    return undefined
  },
})
