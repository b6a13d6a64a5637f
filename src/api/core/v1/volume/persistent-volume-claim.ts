// PersistentVolumeClaim: a request for storage and the result.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { list, map, message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { persistentVolumeClaimSpec } from './volume.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { accessModesText } from './access-mode-rules.ts'
import {
  classAnnotation,
  validateClaimSpec,
  validateClaimStatus,
  validateClaimUpdate,
  withBothDataSources,
} from './persistent-volume-claim-rules.ts'

export const persistentVolumeClaimCondition = message('io.k8s.api.core.v1.PersistentVolumeClaimCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastProbeTime: time(3, { description: 'When the condition was checked last.' }),
  lastTransitionTime: time(4, { description: 'When the status changed last.' }),
  reason: string(5, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { description: 'A sentence for people about the last transition.' }),
})
export interface PersistentVolumeClaimCondition extends Infer<typeof persistentVolumeClaimCondition> {}

export const modifyVolumeStatus = message('io.k8s.api.core.v1.ModifyVolumeStatus', {
  targetVolumeAttributesClassName: string(1, {
    description: 'The VolumeAttributesClass that the volume is being changed to.',
  }),
  status: string(2, {
    required: true,
    enum: ['InProgress', 'Infeasible', 'Pending'],
    enumUnchecked: true,
    description: 'Pending, InProgress or Infeasible.',
  }),
})
export interface ModifyVolumeStatus extends Infer<typeof modifyVolumeStatus> {}

export const persistentVolumeClaimStatus = message('io.k8s.api.core.v1.PersistentVolumeClaimStatus', {
  phase: string(1, {
    enum: ['Bound', 'Lost', 'Pending'],
    enumUnchecked: true,
    description: 'Pending, Bound, or Lost when the volume is gone.',
  }),
  accessModes: list(2, 'string', {
    listType: 'atomic',
    enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
    enumUnchecked: true,
    description: 'The access modes of the bound volume.',
  }),
  capacity: map(3, 'quantity', { description: 'The capacity of the bound volume.' }),
  conditions: list(4, persistentVolumeClaimCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the volume, such as a resize.',
  }),
  allocatedResources: map(5, 'quantity', { description: 'The allocated storage during a resize.' }),
  allocatedResourceStatuses: map(7, 'string', {
    mapType: 'granular',
    description: 'The progress of a resize, by resource.',
  }),
  currentVolumeAttributesClassName: string(8, {
    pointer: true,
    description: 'The current VolumeAttributesClass of the volume.',
  }),
  modifyVolumeStatus: struct(9, modifyVolumeStatus, {
    pointer: true,
    description: 'The progress of a change of attributes.',
  }),
})
export interface PersistentVolumeClaimStatus extends Infer<typeof persistentVolumeClaimStatus> {}

export const persistentVolumeClaimMessage = message(
  'io.k8s.api.core.v1.PersistentVolumeClaim',
  {
    metadata: objectMetaField,
    spec: struct(2, persistentVolumeClaimSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, persistentVolumeClaimStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'A request for storage, which pods use once it is bound.',
)
export interface PersistentVolumeClaim extends ObjectOf<typeof persistentVolumeClaimMessage> {}
export type PersistentVolumeClaimInput = InputOf<typeof persistentVolumeClaimMessage>

/** Prevents the deletion of a claim while a pod uses it. */
export const claimFinalizer = 'kubernetes.io/pvc-protection'

export const persistentVolumeClaim = defineKind<PersistentVolumeClaim, PersistentVolumeClaimInput>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  categories: [],
  namespaced: true,
  message: persistentVolumeClaimMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withBothDataSources(object.spec) }),
  initialStatus: () => ({ phase: 'Pending' }),
  validate: ({ spec }) => validateClaimSpec(spec, 'spec'),
  validateUpdate: validateClaimUpdate,
  validateStatusUpdate: validateClaimStatus,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating',
    ),
    column('Volume', ({ spec }) => spec.volumeName ?? ''),
    column('Capacity', ({ spec, status }) => (spec.volumeName ? (status.capacity?.['storage'] ?? '0') : '')),
    column('Access Modes', ({ spec, status }) => (spec.volumeName ? accessModesText(status.accessModes) : '')),
    column(
      'StorageClass',
      ({ metadata, spec }) => metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '',
    ),
    column('VolumeAttributesClass', ({ spec }) => spec.volumeAttributesClassName ?? '<unset>'),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>', { priority: 1 }),
  ],
  fieldLabels: {},
})
