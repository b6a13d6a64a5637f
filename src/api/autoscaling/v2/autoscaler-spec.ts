// HorizontalPodAutoscalerSpec and its status: the scale target, its metrics, and their current values.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, list, message, quantity, string, struct, time } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const hpaScalingPolicy = message('io.k8s.api.autoscaling.v2.HPAScalingPolicy', {
  type: string(1, { required: true }),
  value: int32(2, { required: true }),
  periodSeconds: int32(3, { required: true }),
})
export interface HPAScalingPolicy extends Infer<typeof hpaScalingPolicy> {}

export const hpaScalingRules = message('io.k8s.api.autoscaling.v2.HPAScalingRules', {
  selectPolicy: string(1, { pointer: true }),
  policies: list(2, hpaScalingPolicy, { listType: 'atomic' }),
  stabilizationWindowSeconds: int32(3, { pointer: true }),
  tolerance: quantity(4, { pointer: true }),
})
export interface HPAScalingRules extends Infer<typeof hpaScalingRules> {}

export const horizontalPodAutoscalerBehavior = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior', {
  scaleUp: struct(1, hpaScalingRules, { pointer: true }),
  scaleDown: struct(2, hpaScalingRules, { pointer: true }),
})
export interface HorizontalPodAutoscalerBehavior extends Infer<typeof horizontalPodAutoscalerBehavior> {}

export const metricTarget = message('io.k8s.api.autoscaling.v2.MetricTarget', {
  type: string(1, { required: true }),
  value: quantity(2, { pointer: true }),
  averageValue: quantity(3, { pointer: true }),
  averageUtilization: int32(4, { pointer: true }),
})
export interface MetricTarget extends Infer<typeof metricTarget> {}

export const containerResourceMetricSource = message('io.k8s.api.autoscaling.v2.ContainerResourceMetricSource', {
  name: string(1, { required: true }),
  target: struct(2, metricTarget, { required: true }),
  container: string(3, { required: true }),
})
export interface ContainerResourceMetricSource extends Infer<typeof containerResourceMetricSource> {}

export const metricIdentifier = message('io.k8s.api.autoscaling.v2.MetricIdentifier', {
  name: string(1, { required: true }),
  selector: struct(2, labelSelector, { pointer: true }),
})
export interface MetricIdentifier extends Infer<typeof metricIdentifier> {}

export const externalMetricSource = message('io.k8s.api.autoscaling.v2.ExternalMetricSource', {
  metric: struct(1, metricIdentifier, { required: true }),
  target: struct(2, metricTarget, { required: true }),
})
export interface ExternalMetricSource extends Infer<typeof externalMetricSource> {}

export const crossVersionObjectReference = message('io.k8s.api.autoscaling.v2.CrossVersionObjectReference', {
  kind: string(1, { required: true }),
  name: string(2, { required: true }),
  apiVersion: string(3),
})
export interface CrossVersionObjectReference extends Infer<typeof crossVersionObjectReference> {}

export const objectMetricSource = message('io.k8s.api.autoscaling.v2.ObjectMetricSource', {
  describedObject: struct(1, crossVersionObjectReference, { required: true }),
  target: struct(2, metricTarget, { required: true }),
  metric: struct(3, metricIdentifier, { required: true }),
})
export interface ObjectMetricSource extends Infer<typeof objectMetricSource> {}

export const podsMetricSource = message('io.k8s.api.autoscaling.v2.PodsMetricSource', {
  metric: struct(1, metricIdentifier, { required: true }),
  target: struct(2, metricTarget, { required: true }),
})
export interface PodsMetricSource extends Infer<typeof podsMetricSource> {}

export const resourceMetricSource = message('io.k8s.api.autoscaling.v2.ResourceMetricSource', {
  name: string(1, { required: true }),
  target: struct(2, metricTarget, { required: true }),
})
export interface ResourceMetricSource extends Infer<typeof resourceMetricSource> {}

export const metricSpec = message('io.k8s.api.autoscaling.v2.MetricSpec', {
  type: string(1, { required: true }),
  object: struct(2, objectMetricSource, { pointer: true }),
  pods: struct(3, podsMetricSource, { pointer: true }),
  resource: struct(4, resourceMetricSource, { pointer: true }),
  external: struct(5, externalMetricSource, { pointer: true }),
  containerResource: struct(7, containerResourceMetricSource, { pointer: true }),
})
export interface MetricSpec extends Infer<typeof metricSpec> {}

export const horizontalPodAutoscalerSpec = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: struct(1, crossVersionObjectReference, { required: true, description: 'The resource to scale.' }),
  minReplicas: int32(2, {
    pointer: true,
    default: 1,
    minimum: 1,
    description: 'It never scales below this number of replicas.',
  }),
  maxReplicas: int32(3, { required: true, description: 'It never scales above this number of replicas.' }),
  metrics: list(4, metricSpec, {
    listType: 'atomic',
    description: 'The metrics with their targets; the one that requires the most replicas decides.',
  }),
  behavior: struct(5, horizontalPodAutoscalerBehavior, {
    pointer: true,
    description: 'How fast it scales up and down.',
  }),
})
export interface HorizontalPodAutoscalerSpec extends Infer<typeof horizontalPodAutoscalerSpec> {}

export const horizontalPodAutoscalerCondition = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition', {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  lastTransitionTime: time(3),
  reason: string(4),
  message: string(5),
})
export interface HorizontalPodAutoscalerCondition extends Infer<typeof horizontalPodAutoscalerCondition> {}

export const metricValueStatus = message('io.k8s.api.autoscaling.v2.MetricValueStatus', {
  value: quantity(1, { pointer: true }),
  averageValue: quantity(2, { pointer: true }),
  averageUtilization: int32(3, { pointer: true }),
})
export interface MetricValueStatus extends Infer<typeof metricValueStatus> {}

export const containerResourceMetricStatus = message('io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus', {
  name: string(1, { required: true }),
  current: struct(2, metricValueStatus, { required: true }),
  container: string(3, { required: true }),
})
export interface ContainerResourceMetricStatus extends Infer<typeof containerResourceMetricStatus> {}

export const externalMetricStatus = message('io.k8s.api.autoscaling.v2.ExternalMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true }),
  current: struct(2, metricValueStatus, { required: true }),
})
export interface ExternalMetricStatus extends Infer<typeof externalMetricStatus> {}

export const objectMetricStatus = message('io.k8s.api.autoscaling.v2.ObjectMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true }),
  current: struct(2, metricValueStatus, { required: true }),
  describedObject: struct(3, crossVersionObjectReference, { required: true }),
})
export interface ObjectMetricStatus extends Infer<typeof objectMetricStatus> {}

export const podsMetricStatus = message('io.k8s.api.autoscaling.v2.PodsMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true }),
  current: struct(2, metricValueStatus, { required: true }),
})
export interface PodsMetricStatus extends Infer<typeof podsMetricStatus> {}

export const resourceMetricStatus = message('io.k8s.api.autoscaling.v2.ResourceMetricStatus', {
  name: string(1, { required: true }),
  current: struct(2, metricValueStatus, { required: true }),
})
export interface ResourceMetricStatus extends Infer<typeof resourceMetricStatus> {}

export const metricStatus = message('io.k8s.api.autoscaling.v2.MetricStatus', {
  type: string(1, { required: true }),
  object: struct(2, objectMetricStatus, { pointer: true }),
  pods: struct(3, podsMetricStatus, { pointer: true }),
  resource: struct(4, resourceMetricStatus, { pointer: true }),
  external: struct(5, externalMetricStatus, { pointer: true }),
  containerResource: struct(7, containerResourceMetricStatus, { pointer: true }),
})
export interface MetricStatus extends Infer<typeof metricStatus> {}

export const horizontalPodAutoscalerStatus = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus', {
  observedGeneration: int64(1, { pointer: true, description: 'The generation that this status is based on.' }),
  lastScaleTime: time(2, { pointer: true, description: 'When it last changed the number of replicas.' }),
  currentReplicas: int32(3, { description: 'How many replicas there are.' }),
  desiredReplicas: int32(4, { required: true, description: 'How many replicas there should be.' }),
  currentMetrics: list(5, metricStatus, {
    listType: 'atomic',
    keepEmpty: true,
    description: 'The last measured values.',
  }),
  conditions: list(6, horizontalPodAutoscalerCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether the autoscaler can read metrics and scale, and whether it is limited.',
  }),
})
export interface HorizontalPodAutoscalerStatus extends Infer<typeof horizontalPodAutoscalerStatus> {}
