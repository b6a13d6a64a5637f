// StatefulSetSpec and StatefulSetStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, intOrString, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { persistentVolumeClaimMessage } from '../../core/v1/volume/persistent-volume-claim.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'

export const statefulSetOrdinals = message('io.k8s.api.apps.v1.StatefulSetOrdinals', {
  start: int32(1, {
    keepEmpty: true,
    default: 0,
    minimum: 0,
    description: 'The number of the first pod; 0 by default.',
  }),
})
export interface StatefulSetOrdinals extends Infer<typeof statefulSetOrdinals> {}

export const statefulSetPersistentVolumeClaimRetentionPolicy = message(
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: string(1, {
      default: 'Retain',
      description: 'What happens to the claims when the StatefulSet is deleted: Retain (the default) or Delete.',
    }),
    whenScaled: string(2, {
      default: 'Retain',
      description: 'What happens to the claims of pods that are scaled down: Retain (the default) or Delete.',
    }),
  },
)
export interface StatefulSetPersistentVolumeClaimRetentionPolicy extends Infer<
  typeof statefulSetPersistentVolumeClaimRetentionPolicy
> {}

export const rollingUpdateStatefulSetStrategy = message('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', {
  partition: int32(1, {
    pointer: true,
    default: 0,
    minimum: 0,
    description: 'Only pods with this ordinal or a higher one are updated; 0 by default.',
  }),
  maxUnavailable: intOrString(2, {
    pointer: true,
    description: 'How many pods may be unavailable during an update, as a number or a percentage; 1 by default.',
  }),
})
export interface RollingUpdateStatefulSetStrategy extends Infer<typeof rollingUpdateStatefulSetStrategy> {}

export const statefulSetUpdateStrategy = message('io.k8s.api.apps.v1.StatefulSetUpdateStrategy', {
  type: string(1, {
    default: 'RollingUpdate',
    enum: ['OnDelete', 'RollingUpdate'],
    enumUnchecked: true,
    description: 'RollingUpdate (the default) replaces pods by itself, OnDelete only after they were deleted.',
  }),
  rollingUpdate: struct(2, rollingUpdateStatefulSetStrategy, {
    pointer: true,
    description: 'The pace of a rolling update.',
  }),
})
export interface StatefulSetUpdateStrategy extends Infer<typeof statefulSetUpdateStrategy> {}

export const statefulSetSpec = message('io.k8s.api.apps.v1.StatefulSetSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0, description: 'How many pods should run; 1 by default.' }),
  selector: struct(2, labelSelector, {
    required: true,
    notEmpty: true,
    pointer: true,
    description: 'Selects the pods by label; immutable.',
  }),
  template: struct(3, podTemplateSpec, { required: true, description: 'The template of the pods.' }),
  volumeClaimTemplates: list(4, persistentVolumeClaimMessage, {
    listType: 'atomic',
    hasTypeMeta: true,
    description: 'Templates of the claims of each pod.',
  }),
  serviceName: string(5, { keepEmpty: true, description: "The Service of the pods' DNS names." }),
  podManagementPolicy: string(6, {
    default: 'OrderedReady',
    enum: ['OrderedReady', 'Parallel'],
    enumUnchecked: true,
    description: 'OrderedReady (the default): pods start one after another; Parallel: all at once.',
  }),
  updateStrategy: struct(7, statefulSetUpdateStrategy, {
    description: 'How pods are replaced when the template changes.',
  }),
  revisionHistoryLimit: int32(8, {
    pointer: true,
    default: 10,
    minimum: 0,
    description: 'How many old revisions are retained; 10 by default.',
  }),
  minReadySeconds: int32(9, {
    minimum: 0,
    description: 'How many seconds a pod must be ready to count as available; 0 by default.',
  }),
  persistentVolumeClaimRetentionPolicy: struct(10, statefulSetPersistentVolumeClaimRetentionPolicy, {
    pointer: true,
    default: {},
    description: 'Whether claims are deleted with their pods or with the set.',
  }),
  ordinals: struct(11, statefulSetOrdinals, {
    pointer: true,
    description: 'The ordinal of the first pod.',
  }),
})
export interface StatefulSetSpec extends Infer<typeof statefulSetSpec> {}

export const statefulSetCondition = message('io.k8s.api.apps.v1.StatefulSetCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface StatefulSetCondition extends Infer<typeof statefulSetCondition> {}

export const statefulSetStatus = message('io.k8s.api.apps.v1.StatefulSetStatus', {
  observedGeneration: int64(1, { description: 'The generation that this status is based on.' }),
  replicas: int32(2, { required: true, description: 'How many pods there are.' }),
  readyReplicas: int32(3, { description: 'How many of them are ready.' }),
  currentReplicas: int32(4, { description: 'How many of them have the current revision.' }),
  updatedReplicas: int32(5, { description: 'How many of them have the update revision.' }),
  currentRevision: string(6, { description: 'The current revision.' }),
  updateRevision: string(7, { description: 'The update revision.' }),
  collisionCount: int32(9, {
    pointer: true,
    description: 'How often the name of a revision collided with an existing one.',
  }),
  conditions: list(10, statefulSetCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the controller.',
  }),
  availableReplicas: int32(11, {
    keepEmpty: true,
    default: 0,
    description: 'How many pods have been ready for long enough.',
  }),
})
export interface StatefulSetStatus extends Infer<typeof statefulSetStatus> {}
