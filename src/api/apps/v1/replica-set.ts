// ReplicaSet: a number of identical pods.
import { ownerWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { podTemplateSpec } from '../../core/v1/pod-spec/pod-template-spec.ts'
import { labelSelector } from '../../meta/v1/label-selector.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { replicaScaling } from '../../kind/replica-scaling.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { unusableSelector } from '../../validation/label-selector-rules.ts'
import {
  containerImages,
  containerNames,
  validateTemplate,
  withTemplateDefaults,
} from '../../core/v1/pod-spec/template-owner-rules.ts'
import { validateReplicaStatus } from '../../validation/status-rules.ts'

export const replicaSetCondition = message('io.k8s.api.apps.v1.ReplicaSetCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastTransitionTime: time(3, { description: 'When the status changed last.' }),
  reason: string(4, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(5, { description: 'A sentence for people about the last transition.' }),
})
export interface ReplicaSetCondition extends Infer<typeof replicaSetCondition> {}

export const replicaSetSpec = message('io.k8s.api.apps.v1.ReplicaSetSpec', {
  replicas: int32(1, { pointer: true, default: 1, minimum: 0, description: 'How many pods should run; 1 by default.' }),
  selector: struct(2, labelSelector, {
    required: true,
    notEmpty: true,
    pointer: true,
    description: 'Selects the pods by label; immutable.',
  }),
  template: struct(3, podTemplateSpec, { description: 'The template of the pods.' }),
  minReadySeconds: int32(4, {
    minimum: 0,
    description: 'How many seconds a pod must be ready to count as available; 0 by default.',
  }),
})
export interface ReplicaSetSpec extends Infer<typeof replicaSetSpec> {}

export const replicaSetStatus = message('io.k8s.api.apps.v1.ReplicaSetStatus', {
  replicas: int32(1, { required: true, description: 'How many pods there are.' }),
  fullyLabeledReplicas: int32(2, { description: 'How many of them have all the labels of the template.' }),
  observedGeneration: int64(3, { description: 'The generation that this status is based on.' }),
  readyReplicas: int32(4, { description: 'How many of them are ready.' }),
  availableReplicas: int32(5, { description: 'How many of them have been ready for long enough.' }),
  conditions: list(6, replicaSetCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the controller.',
  }),
  terminatingReplicas: int32(7, { pointer: true, description: 'How many pods are terminating.' }),
})
export interface ReplicaSetStatus extends Infer<typeof replicaSetStatus> {}

export const replicaSetMessage = message(
  'io.k8s.api.apps.v1.ReplicaSet',
  {
    metadata: objectMetaField,
    spec: struct(2, replicaSetSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, replicaSetStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Runs a number of identical pods; usually created by a Deployment.',
)
export interface ReplicaSet extends ObjectOf<typeof replicaSetMessage> {}
export type ReplicaSetInput = InputOf<typeof replicaSetMessage>

export const replicaSet = defineKind<ReplicaSet, ReplicaSetInput>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  message: replicaSetMessage,
  hasStatus: true,
  countsGenerations: true,
  scale: replicaScaling(({ spec }) => selectorText(spec.selector)),
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withTemplateDefaults(object.spec) }),
  initialStatus: () => ({ replicas: 0 }),
  // Upstream's message says deployment here, too.
  validate: ({ spec }) => [
    ...validateTemplate(spec, 'deployment'),
    ...unusableSelector(spec.selector, 'spec.selector'),
  ],
  validatesNoStatus: true,
  validateUpdate: (object, old) =>
    equalValues(object.spec.selector, old.spec.selector) ? [] : [immutable('spec.selector', object.spec.selector)],
  warnings: ownerWarnings,
  validateStatusUpdate: ({ status }) => validateReplicaStatus(status),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Desired', ({ spec }) => spec.replicas ?? 0, { type: 'integer' }),
    column('Current', ({ status }) => status.replicas ?? 0, { type: 'integer' }),
    column('Ready', ({ status }) => status.readyReplicas ?? 0, { type: 'integer' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.template), { priority: 1 }),
    column('Selector', ({ spec }) => selectorText(spec.selector), { priority: 1 }),
  ],
  fieldLabels: { 'status.replicas': ({ status }) => String(status.replicas ?? 0) },
})
