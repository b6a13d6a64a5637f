// Writes the PodScheduled condition and the nominated node to the pod's status.
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import { measuredCall, type SchedulerMetrics } from '../framework/scheduler-metrics.ts'

export interface PodConditionDeps {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly metrics: SchedulerMetrics
}

/** `nominated`: the name of a node, '' to clear the nomination, undefined to keep it. */
export async function markUnscheduled(
  target: Pod,
  reason: 'Unschedulable' | 'SchedulerError',
  message: string,
  nominated: string | undefined,
  { client, clock, log, metrics }: PodConditionDeps,
  context: Context,
): Promise<void> {
  const before = podCondition(target, 'PodScheduled')
  const isSame = before?.status === 'False' && before.reason === reason && before.message === message
  const isSameNode = nominated === undefined || nominated === (target.status.nominatedNodeName ?? '')
  if (isSame && isSameNode) return
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : rfc3339(clock.nowMs()),
    ...(target.metadata.generation && { observedGeneration: target.metadata.generation }),
  }
  const status = { conditions: [condition], ...(!isSameNode && { nominatedNodeName: nominated || null }) }
  try {
    const { name } = target.metadata
    await measuredCall('pod_status_patch', metrics, clock, () =>
      client.of(pod).patch(name, namespaceOf(target), { status }, 'strategic', context, 'status'),
    )
  } catch (error) {
    // The pod is retried in any case, and the condition is then written again.
    if (!context.signal.aborted && !hasReason(error, 'NotFound'))
      log.debug('the condition of a pod could not be written', { pod: keyOf(target), error: errorText(error) })
  }
}
