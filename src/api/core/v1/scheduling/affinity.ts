// Affinity, tolerations and topology spread constraints of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, int64, list, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { labelSelector } from '../../../meta/v1/label-selector.ts'

export const nodeSelectorRequirement = message('io.k8s.api.core.v1.NodeSelectorRequirement', {
  key: string(1, { required: true, description: 'The label or the field.' }),
  operator: string(2, {
    required: true,
    enum: ['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'],
    enumUnchecked: true,
    description: 'In, NotIn, Exists, DoesNotExist, Gt or Lt.',
  }),
  values: list(3, 'string', {
    listType: 'atomic',
    description: 'The values for In and NotIn, or one integer for Gt and Lt.',
  }),
})
export interface NodeSelectorRequirement extends Infer<typeof nodeSelectorRequirement> {}

export const nodeSelectorTerm = atomicMessage('io.k8s.api.core.v1.NodeSelectorTerm', {
  matchExpressions: list(1, nodeSelectorRequirement, {
    listType: 'atomic',
    description: 'Conditions on the labels of the node. All of them must be met.',
  }),
  matchFields: list(2, nodeSelectorRequirement, {
    listType: 'atomic',
    description: 'Conditions on fields of the node, such as metadata.name. All of them must be met.',
  }),
})
export interface NodeSelectorTerm extends Infer<typeof nodeSelectorTerm> {}

export const nodeSelector = atomicMessage('io.k8s.api.core.v1.NodeSelector', {
  nodeSelectorTerms: list(1, nodeSelectorTerm, {
    required: true,
    listType: 'atomic',
    description: 'Alternatives: a node must match one of them.',
  }),
})
export interface NodeSelector extends Infer<typeof nodeSelector> {}

export const preferredSchedulingTerm = message('io.k8s.api.core.v1.PreferredSchedulingTerm', {
  weight: int32(1, { required: true, description: 'How much it counts, from 1 to 100.' }),
  preference: struct(2, nodeSelectorTerm, { required: true, description: 'The preferred nodes.' }),
})
export interface PreferredSchedulingTerm extends Infer<typeof preferredSchedulingTerm> {}

export const nodeAffinity = message('io.k8s.api.core.v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: struct(1, nodeSelector, {
    pointer: true,
    description: 'What a node must have when the pod is scheduled.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, preferredSchedulingTerm, {
    listType: 'atomic',
    description: 'What is preferred when the pod is scheduled, with weights.',
  }),
})
export interface NodeAffinity extends Infer<typeof nodeAffinity> {}

export const podAffinityTerm = message('io.k8s.api.core.v1.PodAffinityTerm', {
  labelSelector: struct(1, labelSelector, {
    pointer: true,
    description: 'The labels of the other pods. Without it no pod matches.',
  }),
  namespaces: list(2, 'string', {
    listType: 'atomic',
    description: 'The namespaces of the other pods; that of the pod by default.',
  }),
  topologyKey: string(3, {
    required: true,
    description: 'The label of nodes that defines a domain, such as topology.kubernetes.io/zone.',
  }),
  namespaceSelector: struct(4, labelSelector, {
    pointer: true,
    description: 'The namespaces of the other pods by their labels; an empty selector is all of them.',
  }),
  matchLabelKeys: list(5, 'string', {
    listType: 'atomic',
    description: 'Labels of the pod whose values the other pods must have too.',
  }),
  mismatchLabelKeys: list(6, 'string', {
    listType: 'atomic',
    description: 'Labels of the pod whose values the other pods must not have.',
  }),
})
export interface PodAffinityTerm extends Infer<typeof podAffinityTerm> {}

export const weightedPodAffinityTerm = message('io.k8s.api.core.v1.WeightedPodAffinityTerm', {
  weight: int32(1, { required: true, description: 'How much it counts, from 1 to 100.' }),
  podAffinityTerm: struct(2, podAffinityTerm, { required: true, description: 'The other pods and the domain.' }),
})
export interface WeightedPodAffinityTerm extends Infer<typeof weightedPodAffinityTerm> {}

export const podAffinity = message('io.k8s.api.core.v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(1, podAffinityTerm, {
    listType: 'atomic',
    description: 'Pods that must run in the same domain when the pod is scheduled.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, weightedPodAffinityTerm, {
    listType: 'atomic',
    description: 'Pods that are preferred in the same domain, with weights.',
  }),
})
export interface PodAffinity extends Infer<typeof podAffinity> {}

export const podAntiAffinity = message('io.k8s.api.core.v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: list(1, podAffinityTerm, {
    listType: 'atomic',
    description: 'Pods that must not run in the same domain when the pod is scheduled.',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: list(2, weightedPodAffinityTerm, {
    listType: 'atomic',
    description: 'Pods that are avoided in the same domain, with weights.',
  }),
})
export interface PodAntiAffinity extends Infer<typeof podAntiAffinity> {}

export const affinity = message('io.k8s.api.core.v1.Affinity', {
  nodeAffinity: struct(1, nodeAffinity, {
    pointer: true,
    description: 'Nodes that are required or preferred, by their labels.',
  }),
  podAffinity: struct(2, podAffinity, { pointer: true, description: 'Pods near which the pod is placed.' }),
  podAntiAffinity: struct(3, podAntiAffinity, { pointer: true, description: 'Pods near which the pod is not placed.' }),
})
export interface Affinity extends Infer<typeof affinity> {}

export const tolerationOperators = ['Equal', 'Exists', 'Gt', 'Lt'] as const
export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

export const toleration = message('io.k8s.api.core.v1.Toleration', {
  key: string(1, { description: 'The key of the taint; all taints without it, with the operator Exists.' }),
  operator: string(2, {
    enum: tolerationOperators,
    enumUnchecked: true,
    description: 'Equal (the default) or Exists; Lt and Gt compare integers.',
  }),
  value: string(3, { description: 'The value of the taint for Equal.' }),
  effect: string(4, {
    enum: taintEffects,
    enumUnchecked: true,
    description: 'NoSchedule, PreferNoSchedule or NoExecute; all without it.',
  }),
  tolerationSeconds: int64(5, {
    pointer: true,
    description: 'Seconds that the pod stays on a node with a NoExecute taint; forever by default.',
  }),
})
export interface Toleration extends Infer<typeof toleration> {}

export const topologySpreadConstraint = message('io.k8s.api.core.v1.TopologySpreadConstraint', {
  maxSkew: int32(1, {
    required: true,
    description: 'The largest difference between the numbers of matching pods of two domains.',
  }),
  topologyKey: string(2, {
    required: true,
    description: 'The label of nodes that defines a domain, such as topology.kubernetes.io/zone.',
  }),
  whenUnsatisfiable: string(3, {
    required: true,
    enum: ['DoNotSchedule', 'ScheduleAnyway'],
    description: 'DoNotSchedule, or ScheduleAnyway to prefer nodes with a lower skew.',
  }),
  labelSelector: struct(4, labelSelector, { pointer: true, description: 'The labels of the pods that are counted.' }),
  minDomains: int32(5, {
    pointer: true,
    description: 'The smallest number of domains; with fewer, the minimum counts as 0. 1 by default.',
  }),
  nodeAffinityPolicy: string(6, {
    pointer: true,
    enum: ['Honor', 'Ignore'],
    description: 'Whether nodes that the affinity excludes are counted: Honor (they are not, the default) or Ignore.',
  }),
  nodeTaintsPolicy: string(7, {
    pointer: true,
    enum: ['Honor', 'Ignore'],
    description:
      'Whether nodes with taints that are not tolerated are counted: Ignore (they are, the default) or Honor.',
  }),
  matchLabelKeys: list(8, 'string', {
    listType: 'atomic',
    description: 'Labels of the pod whose values the counted pods must have too.',
  }),
})
export interface TopologySpreadConstraint extends Infer<typeof topologySpreadConstraint> {}
