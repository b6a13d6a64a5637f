// removePod: deletes a pod on behalf of a component that does not own it. The condition DisruptionTarget gives the
// reason.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { ReconcileTools } from '../runtime/controller.ts'

export interface Removal {
  /** The reason and message of the condition; without it, no condition is set. */
  readonly why?: { readonly reason: string; readonly message: string }
  /** No kubelet will stop the pod: it is set to Failed and deleted without a grace period. */
  readonly isForced: boolean
}

/** Sets the condition and deletes the pod. A pod that was deleted or replaced in the meantime is ignored. */
export async function removePod(
  object: Pod,
  { why, isForced }: Removal,
  { client, nowMs }: ReconcileTools,
  context: Context,
): Promise<void> {
  const { name, uid } = object.metadata
  const condition = { type: 'DisruptionTarget', status: 'True', ...why, lastTransitionTime: rfc3339(nowMs) }
  const status = {
    ...(isForced && !isPodFinished(object) ? { phase: 'Failed' } : {}),
    ...(why === undefined ? {} : { conditions: [condition] }),
  }
  try {
    if (Object.keys(status).length > 0) {
      const patch = { metadata: { uid }, status }
      await client.of(pod).patch(name, namespaceOf(object), patch, 'strategic', context, 'status')
    }
    const options = { uid, ...(isForced ? { gracePeriodSeconds: 0 } : {}) }
    await client.of(pod).delete(name, namespaceOf(object), options, context)
  } catch (error) {
    if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
  }
}
