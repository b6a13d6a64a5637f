// Pods that are removed by somebody other than their owner say why, in the condition DisruptionTarget.
import { rfc3339 } from '../base/clock.ts'
import type { Context } from '../base/context.ts'
import { pod, type Pod } from '../api/core/v1/pod.ts'
import { podCondition } from '../api/core/v1/pod-readiness.ts'
import { namespaceOf } from '../api/object.ts'
import { hasReason } from '../api/status-error.ts'
import type { ReconcileTools } from './controller.ts'

export interface Disruption {
  readonly reason: string
  readonly message: string
}

/** Says on the pod why it goes, unless it says so already. */
export async function markDisrupted(
  object: Pod,
  why: Disruption,
  { client, nowMs }: ReconcileTools,
  context: Context,
  more: object = {},
): Promise<void> {
  const known = podCondition(object, 'DisruptionTarget')
  if (known?.status === 'True' && known.reason === why.reason && Object.keys(more).length === 0) return
  const condition = { type: 'DisruptionTarget', status: 'True', ...why, lastTransitionTime: rfc3339(nowMs) }
  const { name, uid } = object.metadata
  const patch = { metadata: { uid }, status: { ...more, conditions: [condition] } }
  await client.of(pod).patch(name, namespaceOf(object), patch, 'strategic', context, 'status')
}

/** Deletes the pod; one that is gone or replaced meanwhile is left alone. */
export async function deletePod(
  object: Pod,
  options: { readonly gracePeriodSeconds?: number },
  { client }: ReconcileTools,
  context: Context,
): Promise<void> {
  const { name, uid } = object.metadata
  try {
    await client.of(pod).delete(name, namespaceOf(object), { uid, ...options }, context)
  } catch (error) {
    if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
  }
}
