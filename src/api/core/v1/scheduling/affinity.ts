// Affinity, tolerations and topology spread constraints of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, int64, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { labelSelector } from '../../../meta/v1/label-selector.ts'

export const nodeSelectorRequirement = message('io.k8s.api.core.v1.NodeSelectorRequirement', {
  key: string(1, { required: true }),
  operator: string(2, {
    required: true,
    enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'],
    enumUnchecked: true,
  }),
  values: list(3, 'string', { listType: 'atomic' }),
})
export interface NodeSelectorRequirement extends Infer<typeof nodeSelectorRequirement> {}

export const nodeSelectorTerm = atomicMessage('io.k8s.api.core.v1.NodeSelectorTerm', {
  matchExpressions: list(1, nodeSelectorRequirement, { listType: 'atomic' }),
  matchFields: list(2, nodeSelectorRequirement, { listType: 'atomic' }),
})
export interface NodeSelectorTerm extends Infer<typeof nodeSelectorTerm> {}

export const nodeSelector = atomicMessage('io.k8s.api.core.v1.NodeSelector', {
  nodeSelectorTerms: list(1, nodeSelectorTerm, { required: true, listType: 'atomic' }),
})
export interface NodeSelector extends Infer<typeof nodeSelector> {}

export const preferredSchedulingTerm = message('io.k8s.api.core.v1.PreferredSchedulingTerm', {
  weight: int32(1, { required: true }),
  preference: struct(2, nodeSelectorTerm, { required: true }),
})
export interface PreferredSchedulingTerm extends Infer<typeof preferredSchedulingTerm> {}

export const nodeAffinity = message('io.k8s.api.core.v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: struct(1, nodeSelector, { pointer: true }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, preferredSchedulingTerm, { listType: 'atomic' }),
})
export interface NodeAffinity extends Infer<typeof nodeAffinity> {}

export const podAffinityTerm = message('io.k8s.api.core.v1.PodAffinityTerm', {
  labelSelector: struct(1, labelSelector, { pointer: true }),
  namespaces: list(2, 'string', { listType: 'atomic' }),
  topologyKey: string(3, { required: true }),
  namespaceSelector: struct(4, labelSelector, { pointer: true }),
  matchLabelKeys: list(5, 'string', { listType: 'atomic' }),
  mismatchLabelKeys: list(6, 'string', { listType: 'atomic' }),
})
export interface PodAffinityTerm extends Infer<typeof podAffinityTerm> {}

export const weightedPodAffinityTerm = message('io.k8s.api.core.v1.WeightedPodAffinityTerm', {
  weight: int32(1, { required: true }),
  podAffinityTerm: struct(2, podAffinityTerm, { required: true }),
})
export interface WeightedPodAffinityTerm extends Infer<typeof weightedPodAffinityTerm> {}

export const podAffinity = message('io.k8s.api.core.v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(1, podAffinityTerm, { listType: 'atomic' }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, weightedPodAffinityTerm, { listType: 'atomic' }),
})
export interface PodAffinity extends Infer<typeof podAffinity> {}

export const podAntiAffinity = message('io.k8s.api.core.v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(1, podAffinityTerm, { listType: 'atomic' }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, weightedPodAffinityTerm, { listType: 'atomic' }),
})
export interface PodAntiAffinity extends Infer<typeof podAntiAffinity> {}

export const affinity = message('io.k8s.api.core.v1.Affinity', {
  nodeAffinity: struct(1, nodeAffinity, { pointer: true }),
  podAffinity: struct(2, podAffinity, { pointer: true }),
  podAntiAffinity: struct(3, podAntiAffinity, { pointer: true }),
})
export interface Affinity extends Infer<typeof affinity> {}

export const tolerationOperators = ['Equal', 'Exists', 'Gt', 'Lt'] as const
export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

export const toleration = message('io.k8s.api.core.v1.Toleration', {
  key: string(1),
  operator: string(2, { enum: tolerationOperators, enumUnchecked: true }),
  value: string(3),
  effect: string(4, { enum: taintEffects, enumUnchecked: true }),
  tolerationSeconds: int64(5, { pointer: true }),
})
export interface Toleration extends Infer<typeof toleration> {}

export const topologySpreadConstraint = message('io.k8s.api.core.v1.TopologySpreadConstraint', {
  maxSkew: int32(1, { required: true }),
  topologyKey: string(2, { required: true }),
  whenUnsatisfiable: string(3, { required: true, enum: ['DoNotSchedule', 'ScheduleAnyway'] }),
  labelSelector: struct(4, labelSelector, { pointer: true }),
  minDomains: int32(5, { pointer: true }),
  nodeAffinityPolicy: string(6, { pointer: true, enum: ['Honor', 'Ignore'] }),
  nodeTaintsPolicy: string(7, { pointer: true, enum: ['Honor', 'Ignore'] }),
  matchLabelKeys: list(8, 'string', { listType: 'atomic' }),
})
export interface TopologySpreadConstraint extends Infer<typeof topologySpreadConstraint> {}
