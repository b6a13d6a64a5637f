// StatefulSet: pods with names, order and claims of their own.
import { templateWarnings } from '../../core/v1/pod-warnings.ts'
import { message, struct } from '../../../schema/field.ts'
import type { InputOf, ObjectOf } from '../../object.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { ageText } from '../../age.ts'
import { column, defineKind } from '../../kind.ts'
import { replicaScaling } from '../../replica-scaling.ts'
import { dnsLabelErrors } from '../../names.ts'
import { selectorText } from '../../selectors.ts'
import { validateStatefulSet, validateStatefulSetUpdate, withStatefulSetDefaults } from './stateful-set-rules.ts'
import { containerImages, containerNames } from './template-rules.ts'
import { statefulSetSpec, statefulSetStatus } from './stateful-set-spec.ts'
import { validateCollisions, validateCounts, validateParts } from '../../status-rules.ts'

const replicaParts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']

export const statefulSetMessage = message(
  'io.k8s.api.apps.v1.StatefulSet',
  {
    metadata: struct(1, objectMeta),
    spec: struct(2, statefulSetSpec),
    status: struct(3, statefulSetStatus),
  },
  'Runs pods that have names, an order and storage of their own.',
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
    ...validateCounts(status, ['replicas', ...replicaParts, 'observedGeneration', 'collisionCount']),
    ...validateParts(status, replicaParts, 'replicas', 'status.replicas'),
    ...validateParts(status, ['availableReplicas'], 'readyReplicas', 'status.readyReplicas'),
    ...validateCollisions(status, old.status),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas}`),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
  ],
  fieldLabels: {},
})
