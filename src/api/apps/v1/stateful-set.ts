// StatefulSet: pods with stable names, an order, and their own claims.
import { templateWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { replicaScaling } from '../../kind/replica-scaling.ts'
import { dnsLabelErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateStatefulSet, validateStatefulSetUpdate, withStatefulSetDefaults } from './stateful-set-rules.ts'
import { containerImages, containerNames } from '../../core/v1/pod-spec/template-owner-rules.ts'
import { statefulSetSpec, statefulSetStatus } from './stateful-set-spec.ts'
import { validateCollisions, validateCounts, validateSubcounts } from '../../validation/status-rules.ts'

const replicaSubcounts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']

export const statefulSetMessage = message(
  'io.k8s.api.apps.v1.StatefulSet',
  {
    metadata: objectMetaField,
    spec: struct(2, statefulSetSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, statefulSetStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Runs pods with stable names, an order and their own storage.',
)
export interface StatefulSet extends ObjectOf<typeof statefulSetMessage> {}
export type StatefulSetInput = InputOf<typeof statefulSetMessage>

export const statefulSet = defineKind<StatefulSet, StatefulSetInput>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  message: statefulSetMessage,
  hasStatus: true,
  countsGenerations: true,
  scale: replicaScaling(({ spec }) => selectorText(spec.selector)),
  validateName: dnsLabelErrors,
  applyDefaults: (object) => ({ ...object, spec: withStatefulSetDefaults(object.spec) }),
  initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  validate: ({ spec }) => validateStatefulSet(spec),
  validatesNoStatus: true,
  validateUpdate: ({ spec }, old) => validateStatefulSetUpdate(spec, old.spec),
  warnings: templateWarnings,
  validateStatusUpdate: ({ status }, old) => [
    ...validateCounts(status, ['replicas', ...replicaSubcounts, 'observedGeneration', 'collisionCount']),
    ...validateSubcounts(status, replicaSubcounts, 'replicas', 'status.replicas'),
    ...validateSubcounts(status, ['availableReplicas'], 'readyReplicas', 'status.readyReplicas'),
    ...validateCollisions(status, old.status),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
  ],
  fieldLabels: {},
})
