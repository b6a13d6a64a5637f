// Applies a decision: changes the replicas of a target, and writes the status of the autoscaler.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { HorizontalPodAutoscalerStatus, MetricStatus } from '../../api/autoscaling/v2/autoscaler-spec.ts'
import {
  horizontalPodAutoscaler,
  type HorizontalPodAutoscaler,
} from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { keyOf } from '../../api/meta/object.ts'
import { scaleNotUpdated, scaleUpdated, withCondition, type Conditions } from './autoscaler-conditions.ts'
import { warning, type Tools } from './autoscaler-state.ts'
import type { Decision } from './decision.ts'
import { messageOf, writeScale, type ScaleRead, type ScaleTarget } from './scale-targets.ts'
import { withChange } from './scaling-rules.ts'

/** Writes the status of an autoscaler whose target keeps its replicas. */
export async function keepReplicas(
  autoscaler: HorizontalPodAutoscaler,
  { replicas }: ScaleTarget,
  decision: Decision,
  tools: Tools,
  context: Context,
): Promise<void> {
  const { conditions, metrics, memory } = decision
  tools.state.memories.set(keyOf(autoscaler), memory)
  const desired = decision.replicas === undefined ? autoscaler.status.desiredReplicas : replicas
  await writeStatus(autoscaler, statusOf(autoscaler, replicas, desired, metrics, conditions), tools, context)
}

/** Returns false if the replicas could not be changed. */
export async function changeReplicas(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleRead,
  replicas: number,
  decision: Decision,
  tools: Tools,
  context: Context,
): Promise<boolean> {
  const { client, state, nowMs } = tools
  const { reason, metrics, memory } = decision
  const key = keyOf(autoscaler)
  const status = (conditions: Conditions, desired: number): HorizontalPodAutoscalerStatus =>
    statusOf(autoscaler, target.replicas, desired, metrics, conditions)
  state.memories.set(key, memory)
  const size = `New size: ${replicas}; reason: ${reason}`
  try {
    await writeScale(target, replicas, client, context)
  } catch (error) {
    context.signal.throwIfAborted()
    const why = messageOf(error)
    tools.recordEvent(autoscaler, warning('FailedRescale', `${size}; error: ${why}`), context)
    const conditions = withCondition(decision.conditions, scaleNotUpdated(why), nowMs)
    await writeStatus(autoscaler, status(conditions, autoscaler.status.desiredReplicas), tools, context)
    return false
  }
  tools.recordEvent(autoscaler, { type: 'Normal', reason: 'SuccessfulRescale', message: size }, context)
  state.memories.set(key, withChange(memory, replicas - target.replicas, autoscaler.spec, nowMs))
  const conditions = withCondition(decision.conditions, scaleUpdated(replicas), nowMs)
  const next = { ...status(conditions, replicas), lastScaleTime: rfc3339(nowMs) }
  await writeStatus(autoscaler, next, tools, context)
  return true
}

function statusOf(
  { status: { lastScaleTime } }: HorizontalPodAutoscaler,
  currentReplicas: number,
  desiredReplicas: number,
  currentMetrics: readonly MetricStatus[] | undefined,
  conditions: Conditions,
): HorizontalPodAutoscalerStatus {
  return {
    ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
    currentReplicas,
    desiredReplicas,
    conditions,
    ...(currentMetrics === undefined ? {} : { currentMetrics }),
  }
}

/** Writes the status if it has changed. */
export async function writeStatus(
  autoscaler: HorizontalPodAutoscaler,
  status: HorizontalPodAutoscalerStatus,
  tools: Tools,
  context: Context,
): Promise<void> {
  if (equalValues(status, autoscaler.status, true)) return
  try {
    await tools.client.of(horizontalPodAutoscaler).updateStatus({ ...autoscaler, status }, context)
  } catch (error) {
    context.signal.throwIfAborted()
    tools.recordEvent(autoscaler, warning('FailedUpdateStatus', messageOf(error)), context)
  }
}
