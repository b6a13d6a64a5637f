// PodDisruptionBudgetSpec and PodDisruptionBudgetStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, intOrString, list, map, message, string, struct } from '../../../schema/descriptor/field.ts'
import { condition } from '../../meta/v1/condition.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const podDisruptionBudgetSpec = message('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', {
  minAvailable: intOrString(1, {
    pointer: true,
    description: 'The number or percentage of pods that must remain available.',
  }),
  selector: struct(2, labelSelector, {
    pointer: true,
    patch: 'replace',
    description: 'The pods that the budget applies to, by label.',
  }),
  maxUnavailable: intOrString(3, {
    pointer: true,
    description: 'The number or percentage of pods that may be unavailable.',
  }),
  unhealthyPodEvictionPolicy: string(4, {
    pointer: true,
    enum: ['AlwaysAllow', 'IfHealthyBudget'],
    description: 'Whether unhealthy pods may always be evicted.',
  }),
})
export interface PodDisruptionBudgetSpec extends Infer<typeof podDisruptionBudgetSpec> {}

export const podDisruptionBudgetStatus = message('io.k8s.api.policy.v1.PodDisruptionBudgetStatus', {
  observedGeneration: int64(1, { description: 'The generation that this status is based on.' }),
  disruptedPods: map(2, 'time', { description: 'Pods whose eviction was allowed but not observed yet.' }),
  disruptionsAllowed: int32(3, { keepEmpty: true, default: 0, description: 'How many more pods may be evicted now.' }),
  currentHealthy: int32(4, { keepEmpty: true, default: 0, description: 'How many pods are healthy.' }),
  desiredHealthy: int32(5, { keepEmpty: true, default: 0, description: 'How many pods must be healthy.' }),
  expectedPods: int32(6, { keepEmpty: true, default: 0, description: 'How many pods the budget applies to.' }),
  conditions: list(7, condition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether evictions are allowed, and why not.',
  }),
})
export interface PodDisruptionBudgetStatus extends Infer<typeof podDisruptionBudgetStatus> {}
