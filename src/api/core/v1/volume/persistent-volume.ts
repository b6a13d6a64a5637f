// PersistentVolume: storage that can be bound to a claim.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { persistentVolumeSpec } from './persistent-volume-spec.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { accessModesText } from './access-mode-rules.ts'
import { validateVolumeSpec, validateVolumeUpdate } from './persistent-volume-rules.ts'
import { classAnnotation } from './persistent-volume-claim-rules.ts'

export const persistentVolumeStatus = message('io.k8s.api.core.v1.PersistentVolumeStatus', {
  phase: string(1, {
    default: 'Pending',
    enum: ['Available', 'Bound', 'Failed', 'Pending', 'Released'],
    enumUnchecked: true,
    description: 'Available, Bound, Released or Failed.',
  }),
  message: string(2, { description: 'A description of the phase, for people.' }),
  reason: string(3, { description: 'The reason of a failure, as one word.' }),
  lastPhaseTransitionTime: time(4, { pointer: true, description: 'When the phase last changed.' }),
})
export interface PersistentVolumeStatus extends Infer<typeof persistentVolumeStatus> {}

export const persistentVolumeMessage = message(
  'io.k8s.api.core.v1.PersistentVolume',
  {
    metadata: objectMetaField,
    spec: struct(2, persistentVolumeSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, persistentVolumeStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Storage in the cluster that is independent of pods and can be claimed.',
)
export interface PersistentVolume extends ObjectOf<typeof persistentVolumeMessage> {}
export type PersistentVolumeInput = InputOf<typeof persistentVolumeMessage>

/** Prevents the deletion of a volume while it is bound. */
export const volumeFinalizer = 'kubernetes.io/pv-protection'

export const persistentVolume = defineKind<PersistentVolume, PersistentVolumeInput>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  categories: [],
  namespaced: false,
  message: persistentVolumeMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  initialStatus: ({ metadata }) => ({ phase: 'Pending', lastPhaseTransitionTime: metadata.creationTimestamp }),
  validate: ({ spec }) => validateVolumeSpec(spec, 'spec'),
  validateUpdate: (object, old) => validateVolumeUpdate(object.spec, old.spec),
  warnings: ({ spec }) =>
    spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Capacity', ({ spec }) => spec.capacity?.['storage'] ?? '0'),
    column('Access Modes', ({ spec }) => accessModesText(spec.accessModes)),
    column('Reclaim Policy', ({ spec }) => spec.persistentVolumeReclaimPolicy),
    column('Status', ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined ? status.phase : 'Terminating',
    ),
    column('Claim', ({ spec: { claimRef } }) =>
      claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
    ),
    column(
      'StorageClass',
      ({ metadata, spec }) => metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '',
    ),
    column('VolumeAttributesClass', ({ spec }) => spec.volumeAttributesClassName ?? '<unset>'),
    column('Reason', ({ status }) => status.reason ?? ''),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('VolumeMode', ({ spec }) => spec.volumeMode ?? '<unset>', { priority: 1 }),
  ],
  fieldLabels: {},
})
