// ReplicationController: a number of identical pods, selected by equality of labels. Predecessor of ReplicaSet.
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { replicaScaling } from '../../../kind/replica-scaling.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { validateControllerSpec, withControllerDefaults } from './replication-controller-rules.ts'
import { containerImages, containerNames } from '../pod-spec/template-owner-rules.ts'
import { labelsText } from '../../../columns/labels-text.ts'
import { selectorText } from '../../../selectors/selectors.ts'
import { replicationControllerSpec, replicationControllerStatus } from './replication-controller-spec.ts'
import { validateReplicaStatus } from '../../../validation/status-rules.ts'

export const replicationControllerMessage = message(
  'io.k8s.api.core.v1.ReplicationController',
  {
    metadata: objectMetaField,
    spec: struct(2, replicationControllerSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, replicationControllerStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Runs a number of identical pods; replaced by Deployments.',
)
export interface ReplicationController extends ObjectOf<typeof replicationControllerMessage> {}
export type ReplicationControllerInput = InputOf<typeof replicationControllerMessage>

export const replicationController = defineKind<ReplicationController, ReplicationControllerInput>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  message: replicationControllerMessage,
  hasStatus: true,
  countsGenerations: true,
  scale: replicaScaling(({ spec }) => selectorText({ matchLabels: spec.selector ?? {} })),
  validateName: dnsSubdomainErrors,
  applyDefaults: withControllerDefaults,
  initialStatus: () => ({ replicas: 0 }),
  validate: ({ spec }) => validateControllerSpec(spec, 'spec'),
  validateUpdate: () => [],
  validateStatusUpdate: ({ status }) => validateReplicaStatus(status),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Desired', ({ spec }) => spec.replicas ?? 0, { type: 'integer' }),
    column('Current', ({ status }) => status.replicas, { type: 'integer' }),
    column('Ready', ({ status }) => status.readyReplicas ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => (spec.template === undefined ? '' : containerNames(spec.template)), {
      priority: 1,
    }),
    column('Images', ({ spec }) => (spec.template === undefined ? '' : containerImages(spec.template)), {
      priority: 1,
    }),
    column('Selector', ({ spec }) => labelsText(spec.selector), { priority: 1 }),
  ],
  fieldLabels: { 'status.replicas': ({ status }) => String(status.replicas) },
})
