// PodDisruptionBudgetSpec and PodDisruptionBudgetStatus.
import type { Infer } from '../../../schema/infer.ts'
import { int32, int64, intOrString, list, map, message, string, struct } from '../../../schema/field.ts'
import { condition } from '../../meta/v1/condition.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const podDisruptionBudgetSpec = message('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', {
  minAvailable: intOrString(1, { pointer: true }),
  selector: struct(2, labelSelector, { pointer: true, patch: 'replace' }),
  maxUnavailable: intOrString(3, { pointer: true }),
  unhealthyPodEvictionPolicy: string(4, { pointer: true, enum: ['AlwaysAllow', 'IfHealthyBudget'] }),
})
export interface PodDisruptionBudgetSpec extends Infer<typeof podDisruptionBudgetSpec> {}

export const podDisruptionBudgetStatus = message('io.k8s.api.policy.v1.PodDisruptionBudgetStatus', {
  observedGeneration: int64(1),
  disruptedPods: map(2, 'time'),
  disruptionsAllowed: int32(3, { keepEmpty: true, default: 0 }),
  currentHealthy: int32(4, { keepEmpty: true, default: 0 }),
  desiredHealthy: int32(5, { keepEmpty: true, default: 0 }),
  expectedPods: int32(6, { keepEmpty: true, default: 0 }),
  conditions: list(7, condition, { listType: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' }),
})
export interface PodDisruptionBudgetStatus extends Infer<typeof podDisruptionBudgetStatus> {}
