// StatefulSetSpec and StatefulSetStatus.
import type { Infer } from '../../../schema/infer.ts'
import { int32, int64, intOrString, list, message, string, struct, time } from '../../../schema/field.ts'
import { persistentVolumeClaimMessage } from '../../core/v1/persistent-volume-claim.ts'
import { podTemplateSpec } from '../../core/v1/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const statefulSetOrdinals = message('io.k8s.api.apps.v1.StatefulSetOrdinals', {
  start: int32(1, { keepEmpty: true, default: 0, minimum: 0 }),
})
export interface StatefulSetOrdinals extends Infer<typeof statefulSetOrdinals> {}

export const statefulSetPersistentVolumeClaimRetentionPolicy = message(
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: string(1, { default: 'Retain' }),
    whenScaled: string(2, { default: 'Retain' }),
  },
)
export interface StatefulSetPersistentVolumeClaimRetentionPolicy extends Infer<
  typeof statefulSetPersistentVolumeClaimRetentionPolicy
> {}

export const rollingUpdateStatefulSetStrategy = message('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', {
  partition: int32(1, { pointer: true, default: 0, minimum: 0 }),
  maxUnavailable: intOrString(2, { pointer: true }),
})
export interface RollingUpdateStatefulSetStrategy extends Infer<typeof rollingUpdateStatefulSetStrategy> {}

export const statefulSetUpdateStrategy = message('io.k8s.api.apps.v1.StatefulSetUpdateStrategy', {
  type: string(1, { default: 'RollingUpdate', enum: ['OnDelete', 'RollingUpdate'], enumUnchecked: true }),
  rollingUpdate: struct(2, rollingUpdateStatefulSetStrategy, { pointer: true }),
})
export interface StatefulSetUpdateStrategy extends Infer<typeof statefulSetUpdateStrategy> {}

export const statefulSetSpec = message('io.k8s.api.apps.v1.StatefulSetSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0 }),
  selector: struct(2, labelSelector, { required: true, notEmpty: true, pointer: true }),
  template: struct(3, podTemplateSpec, { required: true }),
  volumeClaimTemplates: list(4, persistentVolumeClaimMessage, { listType: 'atomic', typed: true }),
  serviceName: string(5, { keepEmpty: true }),
  podManagementPolicy: string(6, { default: 'OrderedReady', enum: ['OrderedReady', 'Parallel'], enumUnchecked: true }),
  updateStrategy: struct(7, statefulSetUpdateStrategy),
  revisionHistoryLimit: int32(8, { pointer: true, default: 10, minimum: 0 }),
  minReadySeconds: int32(9, { minimum: 0 }),
  persistentVolumeClaimRetentionPolicy: struct(10, statefulSetPersistentVolumeClaimRetentionPolicy, {
    pointer: true,
    default: {},
  }),
  ordinals: struct(11, statefulSetOrdinals, { pointer: true }),
})
export interface StatefulSetSpec extends Infer<typeof statefulSetSpec> {}

export const statefulSetCondition = message('io.k8s.api.apps.v1.StatefulSetCondition', {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  lastTransitionTime: time(3),
  reason: string(4),
  message: string(5),
})
export interface StatefulSetCondition extends Infer<typeof statefulSetCondition> {}

export const statefulSetStatus = message('io.k8s.api.apps.v1.StatefulSetStatus', {
  observedGeneration: int64(1),
  replicas: int32(2, { required: true }),
  readyReplicas: int32(3),
  currentReplicas: int32(4),
  updatedReplicas: int32(5),
  currentRevision: string(6),
  updateRevision: string(7),
  collisionCount: int32(9, { pointer: true }),
  conditions: list(10, statefulSetCondition, { listType: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' }),
  availableReplicas: int32(11, { keepEmpty: true, default: 0 }),
})
export interface StatefulSetStatus extends Infer<typeof statefulSetStatus> {}
