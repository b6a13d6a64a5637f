// Pod: one or more containers that run together on a node.
import { message, struct } from '../../../schema/field.ts'
import type { InputOf, ObjectOf } from '../../object.ts'
import { podSpec } from './pod-spec.ts'
import { podStatus } from './pod-status.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'
import { forbidden, type FieldError } from '../../../schema/field-error.ts'
import { equalValues } from '../../../schema/json-value.ts'
import { ageText } from '../../age.ts'
import { column, defineKind } from '../../kind.ts'
import { dnsSubdomainErrors } from '../../names.ts'
import { validatePodSpec, withPodSpecDefaults } from './pod-rules.ts'
import { podReadyText, podRestarts, podStatusText } from './pod-readiness.ts'
import { qosClassOf } from './qos.ts'
import type { PodSpec } from './pod-spec.ts'

export const podMessage = message('io.k8s.api.core.v1.Pod', {
  metadata: struct(1, objectMeta),
  spec: struct(2, podSpec),
  status: struct(3, podStatus),
})
export interface Pod extends ObjectOf<typeof podMessage> {}
export type PodInput = InputOf<typeof podMessage>

/** A pod that has a node. */
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
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({
    ...object,
    spec: { enableServiceLinks: true, ...withPodSpecDefaults(withRequestsFromLimits(object.spec)) },
  }),
  initialStatus: ({ spec }) => ({ phase: 'Pending', qosClass: qosClassOf(spec) }),
  validate: ({ spec }) => validatePodSpec(spec, 'spec'),
  validateUpdate: validatePodUpdate,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Ready', podReadyText),
    column('Status', podStatusText),
    column('Restarts', podRestarts),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('IP', ({ status }) => status.podIP ?? '<none>', { priority: 1 }),
    column('Node', ({ spec }) => spec.nodeName ?? '<none>', { priority: 1 }),
    column('Nominated Node', ({ status }) => status.nominatedNodeName ?? '<none>', { priority: 1 }),
    column('Readiness Gates', () => '<none>', { priority: 1 }),
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

/** A limit without a request is a request too. */
function withRequestsFromLimits(spec: PodSpec): PodSpec {
  if (!spec.containers?.some(({ resources }) => resources.limits !== undefined)) return spec
  return {
    ...spec,
    containers: spec.containers.map((container) => {
      const { limits, requests } = container.resources
      if (limits === undefined) return container
      return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } }
    }),
  }
}

const unchangeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

function validatePodUpdate(object: Pod, old: Pod): FieldError[] {
  const { activeDeadlineSeconds: _, tolerations: __, ...rest } = object.spec
  const { activeDeadlineSeconds: ___, tolerations: ____, ...before } = old.spec
  const withOldImages = {
    ...rest,
    containers: rest.containers.map((container, index) => ({ ...container, image: before.containers[index]?.image })),
  }
  return equalValues(withOldImages, before) ? [] : [forbidden('spec', unchangeable)]
}
