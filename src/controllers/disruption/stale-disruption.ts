// Stale disruptions: the condition DisruptionTarget is reset on a pod that still exists two minutes after it was set.
import { leastOf } from '../../base/collections/extremes.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { isPodFinished, podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, namespaceOf, objectKey } from '../../api/meta/object.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import { defineController } from '../runtime/controller.ts'

const staleMs = 120_000
const type = 'DisruptionTarget'

interface State {
  /** Granted evictions by pod key: since when, and by which budget. */
  readonly granted: Map<string, { readonly sinceMs: number; readonly budget: string }>
}

export const staleDisruptionController = defineController({
  name: 'stale-disruption',
  account: 'disruption-controller',
  component: 'controllermanager',
  watches: [pod, podDisruptionBudget],
  state: (): State => ({ granted: new Map() }),
  enqueues(kind, { key, now }, { state }) {
    if (kind.kind === pod.kind) {
      if (now === undefined || isBeingDeleted(now)) state.granted.delete(key)
      return now !== undefined && targetedMs(now as Pod) !== undefined ? [key] : []
    }
    if (now === undefined) return []
    const { metadata, status } = now as PodDisruptionBudget
    return Object.entries(status.disruptedPods ?? {}).map(([name, since]) => {
      const podKey = objectKey(namespaceOf(now), name)
      state.granted.set(podKey, { sinceMs: Date.parse(since), budget: objectKey(namespaceOf(now), metadata.name) })
      return podKey
    })
  },
  async reconcile(key, { client, cached, state, nowMs, recordEvent }, context) {
    const object = cached(pod, key)
    const granted = state.granted.get(key)
    if (object === undefined || isBeingDeleted(object)) {
      state.granted.delete(key)
      return undefined
    }
    if (granted !== undefined && granted.sinceMs + staleMs <= nowMs) {
      state.granted.delete(key)
      const message = `Pod was expected by PDB ${granted.budget} to be deleted but it wasn't`
      recordEvent(object, { type: 'Warning', reason: 'NotDeleted', message }, context)
    }
    const sinceMs = targetedMs(object)
    if (sinceMs !== undefined && sinceMs + staleMs <= nowMs) {
      const { name, uid } = object.metadata
      const condition = { type, status: 'False', reason: null, message: null, lastTransitionTime: rfc3339(nowMs) }
      const patch = { metadata: { uid }, status: { conditions: [condition] } }
      await client
        .of(pod)
        .patch(name, namespaceOf(object), patch, 'strategic', context, 'status')
        .catch(ignoring('NotFound', 'Conflict'))
    }
    const due = [sinceMs, state.granted.get(key)?.sinceMs]
      .filter((ms) => ms !== undefined && ms + staleMs > nowMs)
      .map((ms) => (ms ?? 0) + staleMs - nowMs)
    return due.length === 0 ? undefined : leastOf(due)
  },
})

/**
 * When DisruptionTarget was set; undefined where it is not set, the pod is deleted or finished, or its kubelet set it.
 */
function targetedMs(object: Pod): number | undefined {
  const condition = podCondition(object, type)
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet') return undefined
  if (isBeingDeleted(object) || isPodFinished(object)) return undefined
  return Date.parse(condition.lastTransitionTime ?? '')
}
