// HorizontalPodAutoscalerSpec and its status: the scale target, its metrics, and their current values.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, list, message, quantity, string, struct, time } from '../../../schema/descriptor/field.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const hpaScalingPolicy = message('io.k8s.api.autoscaling.v2.HPAScalingPolicy', {
  type: string(1, { required: true, description: 'Pods or Percent.' }),
  value: int32(2, { required: true, description: 'How many pods, or how much percent, may change in the period.' }),
  periodSeconds: int32(3, { required: true, description: 'The period in seconds, from 1 to 1800.' }),
})
export interface HPAScalingPolicy extends Infer<typeof hpaScalingPolicy> {}

export const hpaScalingRules = message('io.k8s.api.autoscaling.v2.HPAScalingRules', {
  selectPolicy: string(1, { pointer: true, description: 'Which policy applies: Max (the default), Min or Disabled.' }),
  policies: list(2, hpaScalingPolicy, { listType: 'atomic', description: 'How much may change in a period.' }),
  stabilizationWindowSeconds: int32(3, {
    pointer: true,
    description:
      'Seconds over which the most cautious recommendation applies, at most 3600: 0 for scaling up and 300 for scaling down by default.',
  }),
  tolerance: quantity(4, {
    pointer: true,
    description: 'The deviation from the target that causes no change, as a fraction; 0.1 by default.',
  }),
})
export interface HPAScalingRules extends Infer<typeof hpaScalingRules> {}

export const horizontalPodAutoscalerBehavior = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior', {
  scaleUp: struct(1, hpaScalingRules, { pointer: true, description: 'How fast replicas are added.' }),
  scaleDown: struct(2, hpaScalingRules, { pointer: true, description: 'How fast replicas are removed.' }),
})
export interface HorizontalPodAutoscalerBehavior extends Infer<typeof horizontalPodAutoscalerBehavior> {}

export const metricTarget = message('io.k8s.api.autoscaling.v2.MetricTarget', {
  type: string(1, { required: true, description: 'Utilization, Value or AverageValue.' }),
  value: quantity(2, { pointer: true, description: 'The value for Value.' }),
  averageValue: quantity(3, { pointer: true, description: 'The average over all pods for AverageValue.' }),
  averageUtilization: int32(4, {
    pointer: true,
    description: 'The average over all pods in percent of their requests, for Utilization.',
  }),
})
export interface MetricTarget extends Infer<typeof metricTarget> {}

export const containerResourceMetricSource = message('io.k8s.api.autoscaling.v2.ContainerResourceMetricSource', {
  name: string(1, { required: true, description: 'cpu or memory.' }),
  target: struct(2, metricTarget, { required: true, description: 'The value that is aimed at.' }),
  container: string(3, { required: true, description: 'The name of the container.' }),
})
export interface ContainerResourceMetricSource extends Infer<typeof containerResourceMetricSource> {}

export const metricIdentifier = message('io.k8s.api.autoscaling.v2.MetricIdentifier', {
  name: string(1, { required: true, description: 'The name of the metric.' }),
  selector: struct(2, labelSelector, { pointer: true, description: 'The labels of the metric.' }),
})
export interface MetricIdentifier extends Infer<typeof metricIdentifier> {}

export const externalMetricSource = message('io.k8s.api.autoscaling.v2.ExternalMetricSource', {
  metric: struct(1, metricIdentifier, { required: true, description: 'The metric.' }),
  target: struct(2, metricTarget, { required: true, description: 'The value that is aimed at.' }),
})
export interface ExternalMetricSource extends Infer<typeof externalMetricSource> {}

export const crossVersionObjectReference = message('io.k8s.api.autoscaling.v2.CrossVersionObjectReference', {
  kind: string(1, { required: true, description: 'The kind of the object.' }),
  name: string(2, { required: true, description: 'The name of the object.' }),
  apiVersion: string(3, { description: 'The API version of the object.' }),
})
export interface CrossVersionObjectReference extends Infer<typeof crossVersionObjectReference> {}

export const objectMetricSource = message('io.k8s.api.autoscaling.v2.ObjectMetricSource', {
  describedObject: struct(1, crossVersionObjectReference, {
    required: true,
    description: 'The object that the metric is about.',
  }),
  target: struct(2, metricTarget, { required: true, description: 'The value that is aimed at.' }),
  metric: struct(3, metricIdentifier, { required: true, description: 'The metric.' }),
})
export interface ObjectMetricSource extends Infer<typeof objectMetricSource> {}

export const podsMetricSource = message('io.k8s.api.autoscaling.v2.PodsMetricSource', {
  metric: struct(1, metricIdentifier, { required: true, description: 'The metric.' }),
  target: struct(2, metricTarget, { required: true, description: 'The value that is aimed at.' }),
})
export interface PodsMetricSource extends Infer<typeof podsMetricSource> {}

export const resourceMetricSource = message('io.k8s.api.autoscaling.v2.ResourceMetricSource', {
  name: string(1, { required: true, description: 'cpu or memory.' }),
  target: struct(2, metricTarget, { required: true, description: 'The value that is aimed at.' }),
})
export interface ResourceMetricSource extends Infer<typeof resourceMetricSource> {}

export const metricSpec = message('io.k8s.api.autoscaling.v2.MetricSpec', {
  type: string(1, { required: true, description: 'Resource, ContainerResource, Pods, Object or External.' }),
  object: struct(2, objectMetricSource, {
    pointer: true,
    description: 'A metric of one object, such as the requests per second of an Ingress.',
  }),
  pods: struct(3, podsMetricSource, { pointer: true, description: 'A metric of each pod, averaged.' }),
  resource: struct(4, resourceMetricSource, { pointer: true, description: 'The CPU or memory of the pods.' }),
  external: struct(5, externalMetricSource, {
    pointer: true,
    description: 'A metric of something outside of the cluster, such as a queue.',
  }),
  containerResource: struct(7, containerResourceMetricSource, {
    pointer: true,
    description: 'The CPU or memory of one container of the pods.',
  }),
})
export interface MetricSpec extends Infer<typeof metricSpec> {}

export const horizontalPodAutoscalerSpec = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: struct(1, crossVersionObjectReference, { required: true, description: 'The resource to scale.' }),
  minReplicas: int32(2, {
    pointer: true,
    default: 1,
    minimum: 1,
    description: 'It never scales below this number of replicas; 1 by default.',
  }),
  maxReplicas: int32(3, { required: true, description: 'It never scales above this number of replicas.' }),
  metrics: list(4, metricSpec, {
    listType: 'atomic',
    description:
      'The metrics with their targets; the one that requires the most replicas decides. By default 80 % of the requested CPU.',
  }),
  behavior: struct(5, horizontalPodAutoscalerBehavior, {
    pointer: true,
    description: 'How fast it scales up and down.',
  }),
})
export interface HorizontalPodAutoscalerSpec extends Infer<typeof horizontalPodAutoscalerSpec> {}

export const horizontalPodAutoscalerCondition = message('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface HorizontalPodAutoscalerCondition extends Infer<typeof horizontalPodAutoscalerCondition> {}

export const metricValueStatus = message('io.k8s.api.autoscaling.v2.MetricValueStatus', {
  value: quantity(1, { pointer: true, description: 'The value.' }),
  averageValue: quantity(2, { pointer: true, description: 'The average over all pods.' }),
  averageUtilization: int32(3, {
    pointer: true,
    description: 'The average over all pods in percent of their requests.',
  }),
})
export interface MetricValueStatus extends Infer<typeof metricValueStatus> {}

export const containerResourceMetricStatus = message('io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus', {
  name: string(1, { required: true, description: 'cpu or memory.' }),
  current: struct(2, metricValueStatus, { required: true, description: 'The present value.' }),
  container: string(3, { required: true, description: 'The name of the container.' }),
})
export interface ContainerResourceMetricStatus extends Infer<typeof containerResourceMetricStatus> {}

export const externalMetricStatus = message('io.k8s.api.autoscaling.v2.ExternalMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true, description: 'The metric.' }),
  current: struct(2, metricValueStatus, { required: true, description: 'The present value.' }),
})
export interface ExternalMetricStatus extends Infer<typeof externalMetricStatus> {}

export const objectMetricStatus = message('io.k8s.api.autoscaling.v2.ObjectMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true, description: 'The metric.' }),
  current: struct(2, metricValueStatus, { required: true, description: 'The present value.' }),
  describedObject: struct(3, crossVersionObjectReference, {
    required: true,
    description: 'The object that the metric is about.',
  }),
})
export interface ObjectMetricStatus extends Infer<typeof objectMetricStatus> {}

export const podsMetricStatus = message('io.k8s.api.autoscaling.v2.PodsMetricStatus', {
  metric: struct(1, metricIdentifier, { required: true, description: 'The metric.' }),
  current: struct(2, metricValueStatus, { required: true, description: 'The present value.' }),
})
export interface PodsMetricStatus extends Infer<typeof podsMetricStatus> {}

export const resourceMetricStatus = message('io.k8s.api.autoscaling.v2.ResourceMetricStatus', {
  name: string(1, { required: true, description: 'cpu or memory.' }),
  current: struct(2, metricValueStatus, { required: true, description: 'The present value.' }),
})
export interface ResourceMetricStatus extends Infer<typeof resourceMetricStatus> {}

export const metricStatus = message('io.k8s.api.autoscaling.v2.MetricStatus', {
  type: string(1, { required: true, description: 'Resource, ContainerResource, Pods, Object or External.' }),
  object: struct(2, objectMetricStatus, {
    pointer: true,
    description: 'A metric of one object, such as the requests per second of an Ingress.',
  }),
  pods: struct(3, podsMetricStatus, { pointer: true, description: 'A metric of each pod, averaged.' }),
  resource: struct(4, resourceMetricStatus, { pointer: true, description: 'The CPU or memory of the pods.' }),
  external: struct(5, externalMetricStatus, {
    pointer: true,
    description: 'A metric of something outside of the cluster, such as a queue.',
  }),
  containerResource: struct(7, containerResourceMetricStatus, {
    pointer: true,
    description: 'The CPU or memory of one container of the pods.',
  }),
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
