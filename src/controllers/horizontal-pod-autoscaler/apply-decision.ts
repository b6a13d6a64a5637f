// applyDecision: changes the replicas of a target as decided, and writes the status of the autoscaler.
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
import { messageOf, writeScale, type ScaleTarget } from './scale-targets.ts'
import { withChange } from './scaling-rules.ts'

/** Returns false if the replicas could not be changed. */
export async function applyDecision(
  autoscaler: HorizontalPodAutoscaler,
  target: ScaleTarget,
  decision: Decision,
  tools: Tools,
  context: Context,
): Promise<boolean> {
  const { client, state, nowMs } = tools
  const { replicas = target.replicas, reason, metrics } = decision
  const key = keyOf(autoscaler)
  const { desiredReplicas } = autoscaler.status
  const status = (conditions: Conditions, desired: number): HorizontalPodAutoscalerStatus =>
    statusOf(autoscaler, target.replicas, desired, metrics, conditions)
  state.memories.set(key, decision.memory)
  if (replicas === target.replicas) {
    const desired = decision.replicas === undefined ? desiredReplicas : replicas
    await writeStatus(autoscaler, status(decision.conditions, desired), tools, context)
    return true
  }
  const size = `New size: ${replicas}; reason: ${reason}`
  try {
    await writeScale(target, replicas, client, context)
  } catch (error) {
    context.signal.throwIfAborted()
    const why = messageOf(error)
    tools.recordEvent(autoscaler, warning('FailedRescale', `${size}; error: ${why}`), context)
    const conditions = withCondition(decision.conditions, scaleNotUpdated(why), nowMs)
    await writeStatus(autoscaler, status(conditions, desiredReplicas), tools, context)
    return false
  }
  tools.recordEvent(autoscaler, { type: 'Normal', reason: 'SuccessfulRescale', message: size }, context)
  state.memories.set(key, withChange(decision.memory, replicas - target.replicas, autoscaler.spec, nowMs))
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
    ...{ currentReplicas, desiredReplicas, conditions },
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
