// HorizontalPodAutoscaler: sets the number of replicas of a resource according to metrics.
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { withAutoscalerDefaults } from './autoscaler-defaults.ts'
import { metricsText } from './autoscaler-metrics-text.ts'
import { validateAutoscaler } from './autoscaler-rules.ts'
import { horizontalPodAutoscalerSpec, horizontalPodAutoscalerStatus } from './autoscaler-spec.ts'
import { validateCounts } from '../../validation/status-rules.ts'

export const horizontalPodAutoscalerMessage = message(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  {
    metadata: objectMetaField,
    spec: struct(2, horizontalPodAutoscalerSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, horizontalPodAutoscalerStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Scales the number of pods to keep metrics near their targets.',
)
export interface HorizontalPodAutoscaler extends ObjectOf<typeof horizontalPodAutoscalerMessage> {}
export type HorizontalPodAutoscalerInput = InputOf<typeof horizontalPodAutoscalerMessage>

export const horizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler, HorizontalPodAutoscalerInput>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  singular: 'horizontalpodautoscaler',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  message: horizontalPodAutoscalerMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withAutoscalerDefaults(object.spec) }),
  initialStatus: () => ({ desiredReplicas: 0 }),
  validate: ({ spec }) => validateAutoscaler(spec),
  validateUpdate: () => [],
  validateStatusUpdate: ({ status }) => validateCounts(status, ['currentReplicas', 'desiredReplicas']),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Reference', ({ spec: { scaleTargetRef: target } }) => `${target.kind}/${target.name}`),
    column('Targets', ({ spec, status }) => metricsText(spec, status)),
    column('MinPods', ({ spec }) => String(spec.minReplicas ?? '<unset>')),
    column('MaxPods', ({ spec }) => spec.maxReplicas),
    column('Replicas', ({ status }) => status.currentReplicas ?? 0),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
