// HorizontalPodAutoscaler of autoscaling/v1: CPU only. The objects are stored as v2; what v1 has no fields for is in
// annotations, in upstream's form.
import { int32, int64, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { without } from '../../../schema/json/json-value.ts'
import { defineKind } from '../../kind/kind.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { withAutoscalerDefaults } from '../v2/autoscaler-defaults.ts'
import type { HorizontalPodAutoscalerSpec as SpecV2, MetricSpec } from '../v2/autoscaler-spec.ts'
import type { HorizontalPodAutoscalerStatus as StatusV2 } from '../v2/autoscaler-spec.ts'
import {
  horizontalPodAutoscaler as kept,
  type HorizontalPodAutoscaler as Kept,
} from '../v2/horizontal-pod-autoscaler.ts'
import { autoscalerAnnotations, fromAnnotations, withoutAutoscalerAnnotations } from './autoscaler-annotations.ts'

export const crossVersionObjectReference = message('io.k8s.api.autoscaling.v1.CrossVersionObjectReference', {
  kind: string(1, { required: true, description: 'The kind of the object.' }),
  name: string(2, { required: true, description: 'The name of the object.' }),
  apiVersion: string(3, { description: 'The API version of the object.' }),
})

export const horizontalPodAutoscalerSpec = message('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: struct(1, crossVersionObjectReference, { required: true, description: 'The resource to scale.' }),
  minReplicas: int32(2, {
    pointer: true,
    default: 1,
    minimum: 1,
    description: 'It never scales below this number of replicas; 1 by default.',
  }),
  maxReplicas: int32(3, { required: true, description: 'It never scales above this number of replicas.' }),
  targetCPUUtilizationPercentage: int32(4, {
    pointer: true,
    description: 'The target average CPU usage of the pods, as a percentage of their requests.',
  }),
})
export interface HorizontalPodAutoscalerSpec extends Infer<typeof horizontalPodAutoscalerSpec> {}

export const horizontalPodAutoscalerStatus = message('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus', {
  observedGeneration: int64(1, { pointer: true, description: 'The generation that the autoscaler has observed.' }),
  lastScaleTime: time(2, { pointer: true, description: 'When it last changed the number of replicas.' }),
  currentReplicas: int32(3, { required: true, description: 'How many replicas there are.' }),
  desiredReplicas: int32(4, { required: true, description: 'How many replicas there should be.' }),
  currentCPUUtilizationPercentage: int32(5, {
    pointer: true,
    description: 'The current average CPU usage of the pods, as a percentage of their requests.',
  }),
})
export interface HorizontalPodAutoscalerStatus extends Infer<typeof horizontalPodAutoscalerStatus> {}

export const horizontalPodAutoscalerMessage = message(
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler',
  {
    metadata: objectMetaField,
    spec: struct(2, horizontalPodAutoscalerSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, horizontalPodAutoscalerStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Scales the number of pods to keep their CPU usage near a target.',
)
export interface HorizontalPodAutoscaler extends ObjectOf<typeof horizontalPodAutoscalerMessage> {}
export type HorizontalPodAutoscalerInput = InputOf<typeof horizontalPodAutoscalerMessage>

const isCpuUtilization = ({ type, resource }: MetricSpec): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined

const cpuMetric = (averageUtilization: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

function toKept({ metadata, spec, status }: HorizontalPodAutoscaler): Kept {
  const { targetCPUUtilizationPercentage: percent, ...rest } = spec
  const { metrics = [], behavior, conditions, currentMetrics } = fromAnnotations(metadata.annotations ?? {})
  const all = [...metrics, ...(percent === undefined ? [] : [cpuMetric(percent)])]
  const wholeSpec: SpecV2 = { ...rest, metrics: all, ...(behavior === undefined ? {} : { behavior }) }
  const wholeStatus: StatusV2 = {
    ...without(status, 'currentCPUUtilizationPercentage'),
    ...(conditions === undefined ? {} : { conditions }),
    ...(currentMetrics === undefined ? {} : { currentMetrics }),
  }
  return {
    kind: kept.kind,
    apiVersion: kept.apiVersion,
    metadata: withoutAutoscalerAnnotations(metadata),
    spec: withAutoscalerDefaults(wholeSpec),
    status: wholeStatus,
  }
}

function fromKept({ metadata, spec, status }: Kept): HorizontalPodAutoscaler {
  const { metrics = [], behavior, ...rest } = spec
  const { currentMetrics: metricsNow, conditions = [], ...numbers } = status
  const currentMetrics = metricsNow ?? []
  const percent = metrics.find(isCpuUtilization)?.resource?.target.averageUtilization
  const current = currentMetrics.find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')
  const utilization = current?.resource?.current.averageUtilization
  const annotations = {
    ...metadata.annotations,
    ...autoscalerAnnotations({
      metrics: metrics.filter((metric) => !isCpuUtilization(metric)),
      currentMetrics,
      conditions,
      behavior,
    }),
  }
  return {
    kind: kept.kind,
    apiVersion: 'autoscaling/v1',
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
    spec: { ...rest, ...(percent === undefined ? {} : { targetCPUUtilizationPercentage: percent }) },
    status: {
      ...numbers,
      currentReplicas: numbers.currentReplicas ?? 0,
      ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }),
    },
  }
}

export const horizontalPodAutoscalerV1 = defineKind<HorizontalPodAutoscaler, HorizontalPodAutoscalerInput>({
  group: kept.group,
  version: 'v1',
  kind: kept.kind,
  plural: kept.plural,
  singular: kept.singular,
  shortNames: kept.shortNames,
  categories: kept.categories,
  namespaced: true,
  message: horizontalPodAutoscalerMessage,
  hasStatus: true,
  countsGenerations: kept.countsGenerations,
  validateName: (name) => kept.validateName(name),
  storedAs: { kind: kept, toStored: toKept, fromStored: fromKept },
  applyDefaults: (object) => object,
  initialStatus: () => ({ currentReplicas: 0, desiredReplicas: 0 }),
  validate: (object) => kept.validate(toKept(object)),
  validateUpdate: (object, old) => kept.validateUpdate(toKept(object), toKept(old)),
  columns: kept.columns.map((column) => ({ ...column, cell: (object, nowMs) => column.cell(toKept(object), nowMs) })),
  fieldLabels: {},
})
