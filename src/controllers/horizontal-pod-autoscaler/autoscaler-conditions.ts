// The conditions of an autoscaler, and the failures that its status reports.
import { rfc3339 } from '../../base/time/clock.ts'
import type { HorizontalPodAutoscalerCondition } from '../../api/autoscaling/v2/autoscaler-spec.ts'

export type Conditions = readonly HorizontalPodAutoscalerCondition[]

export interface ConditionChange {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/**
 * The conditions with the change: the same list if it changes nothing. The transition time is that of the last change of the
 * status.
 */
export function withCondition(conditions: Conditions, change: ConditionChange, nowMs: number): Conditions {
  const known = conditions.find(({ type }) => type === change.type)
  const lastTransitionTime = known?.status === change.status ? known.lastTransitionTime : undefined
  if (lastTransitionTime !== undefined && known?.reason === change.reason && known.message === change.message)
    return conditions
  const next = { ...change, lastTransitionTime: lastTransitionTime ?? rfc3339(nowMs) }
  if (known === undefined) return [...conditions, next]
  return conditions.map((condition) => (condition === known ? next : condition))
}

export const scaleRead: ConditionChange = {
  type: 'AbleToScale',
  status: 'True',
  reason: 'SucceededGetScale',
  message: "the HPA controller was able to get the target's current scale",
}

export const scaleNotRead = (why: string): ConditionChange => ({
  type: 'AbleToScale',
  status: 'False',
  reason: 'FailedGetScale',
  message: `the HPA controller was unable to get the target's current scale: ${why}`,
})

export const scaleUpdated = (replicas: number): ConditionChange => ({
  type: 'AbleToScale',
  status: 'True',
  reason: 'SucceededRescale',
  message: `the HPA controller was able to update the target scale to ${replicas}`,
})

export const scaleNotUpdated = (why: string): ConditionChange => ({
  type: 'AbleToScale',
  status: 'False',
  reason: 'FailedUpdateScale',
  message: `the HPA controller was unable to update the target scale: ${why}`,
})

export const scalingDisabled: ConditionChange = {
  type: 'ScalingActive',
  status: 'False',
  reason: 'ScalingDisabled',
  message: 'scaling is disabled since the replica count of the target is zero',
}

export const notActive = (reason: string, message: string): ConditionChange => ({
  type: 'ScalingActive',
  status: 'False',
  reason,
  message,
})

export const activeFor = (metric: string): ConditionChange => ({
  type: 'ScalingActive',
  status: 'True',
  reason: 'ValidMetricFound',
  message: `the HPA was able to successfully calculate a replica count from ${metric}`,
})
