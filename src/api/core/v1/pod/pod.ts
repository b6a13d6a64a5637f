// Pod: one or more containers that run together on a node.
import { nameWarnings, podWarnings } from '../pod-spec/pod-warnings.ts'
import { podSubresources } from './pod-subresources.ts'
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { podSpec } from '../pod-spec/pod-spec.ts'
import { validatePodStatusUpdate } from './pod-status-rules.ts'
import { podStatus } from './pod-status.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { validatePod, validatePodUpdate, withPodDefaults } from './pod-rules.ts'
import { podGatesText, podReadyText, podRestartsText, podStatusText } from './pod-columns.ts'
import { gatedCondition } from './pod-readiness.ts'
import { qosClassOf } from '../pod-spec/qos.ts'

export const podMessage = message(
  'io.k8s.api.core.v1.Pod',
  {
    metadata: objectMetaField,
    spec: struct(2, podSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, podStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Containers that run together on one node and share network and volumes.',
)
export interface Pod extends ObjectOf<typeof podMessage> {}
export type PodInput = InputOf<typeof podMessage>

/** A pod with an assigned node. */
export type BoundPod = Pod & { readonly spec: { readonly nodeName: string } }

export const isBound = (object: Pod): object is BoundPod => object.spec.nodeName !== undefined

export const pod = defineKind<Pod, PodInput>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  message: podMessage,
  subresources: podSubresources,
  hasStatus: true,
  countsGenerations: true,
  internedField: 'spec',
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withPodDefaults(object.spec) }),
  initialStatus: ({ spec, metadata }) => ({
    phase: 'Pending',
    qosClass: qosClassOf(spec),
    ...(spec.schedulingGates?.length && { conditions: [gatedCondition(metadata.creationTimestamp)] }),
  }),
  validate: validatePod,
  validatesNoStatus: true,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  warnings: (object, old) =>
    old === undefined ? [...nameWarnings(object.metadata.name, "in the Pod's hostname"), ...podWarnings(object)] : [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Ready', podReadyText),
    column('Status', podStatusText),
    column('Restarts', podRestartsText),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('IP', ({ status }) => status.podIP || '<none>', { priority: 1 }),
    column('Node', ({ spec }) => spec.nodeName || '<none>', { priority: 1 }),
    column('Nominated Node', ({ status }) => status.nominatedNodeName || '<none>', { priority: 1 }),
    column('Readiness Gates', podGatesText, { priority: 1 }),
  ],
  fieldLabels: {
    'spec.nodeName': ({ spec }) => spec.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy,
    'spec.schedulerName': ({ spec }) => spec.schedulerName,
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork ?? false),
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => status.podIP ?? '',
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
  },
})
