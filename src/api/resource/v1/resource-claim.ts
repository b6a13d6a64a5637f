// ResourceClaim: a request for devices, their allocation, and its consumers.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, rawExtension, list, map, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { nodeSelector } from '../../core/v1/scheduling/affinity.ts'
import { condition } from '../../meta/v1/condition.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

import { validateClaim, withClaimDefaults } from './claim-rules.ts'
import { deviceToleration, opaqueDeviceConfiguration, resourceClaimSpec } from './device-requests.ts'
import { forbidden, immutable, required, tooMany, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const deviceAllocationConfiguration = message('io.k8s.api.resource.v1.DeviceAllocationConfiguration', {
  source: string(1, { required: true, enum: ['FromClaim', 'FromClass'] }),
  requests: list(2, 'string', { listType: 'atomic' }),
  opaque: struct(1, opaqueDeviceConfiguration, { pointer: true, embeddedAt: 3 }),
})
export interface DeviceAllocationConfiguration extends Infer<typeof deviceAllocationConfiguration> {}

export const deviceRequestAllocationResult = message('io.k8s.api.resource.v1.DeviceRequestAllocationResult', {
  request: string(1, { required: true }),
  driver: string(2, { required: true }),
  pool: string(3, { required: true }),
  device: string(4, { required: true }),
  adminAccess: bool(5, { pointer: true }),
  tolerations: list(6, deviceToleration, { listType: 'atomic' }),
  bindingConditions: list(7, 'string', { listType: 'atomic' }),
  bindingFailureConditions: list(8, 'string', { listType: 'atomic' }),
  shareID: string(9, { pointer: true }),
  consumedCapacity: map(10, 'quantity'),
})
export interface DeviceRequestAllocationResult extends Infer<typeof deviceRequestAllocationResult> {}

export const deviceAllocationResult = message('io.k8s.api.resource.v1.DeviceAllocationResult', {
  results: list(1, deviceRequestAllocationResult, { listType: 'atomic' }),
  config: list(2, deviceAllocationConfiguration, { listType: 'atomic' }),
})
export interface DeviceAllocationResult extends Infer<typeof deviceAllocationResult> {}

export const allocationResult = message('io.k8s.api.resource.v1.AllocationResult', {
  devices: struct(1, deviceAllocationResult),
  nodeSelector: struct(3, nodeSelector, { pointer: true }),
  allocationTimestamp: time(5, { pointer: true }),
})
export interface AllocationResult extends Infer<typeof allocationResult> {}

export const networkDeviceData = message('io.k8s.api.resource.v1.NetworkDeviceData', {
  interfaceName: string(1),
  ips: list(2, 'string', { listType: 'atomic' }),
  hardwareAddress: string(3),
})
export interface NetworkDeviceData extends Infer<typeof networkDeviceData> {}

export const allocatedDeviceStatus = message('io.k8s.api.resource.v1.AllocatedDeviceStatus', {
  driver: string(1, { required: true }),
  pool: string(2, { required: true }),
  device: string(3, { required: true }),
  conditions: list(4, condition, { listType: 'map', keys: ['type'], keepEmpty: true }),
  data: rawExtension(5, { pointer: true }),
  networkData: struct(6, networkDeviceData, { pointer: true }),
  shareID: string(7, { pointer: true }),
})
export interface AllocatedDeviceStatus extends Infer<typeof allocatedDeviceStatus> {}

export const resourceClaimConsumerReference = message('io.k8s.api.resource.v1.ResourceClaimConsumerReference', {
  apiGroup: string(1),
  resource: string(3, { required: true }),
  name: string(4, { required: true }),
  uid: string(5, { required: true }),
})
export interface ResourceClaimConsumerReference extends Infer<typeof resourceClaimConsumerReference> {}

export const resourceClaimStatus = message('io.k8s.api.resource.v1.ResourceClaimStatus', {
  allocation: struct(1, allocationResult, { pointer: true, description: 'The allocated devices.' }),
  reservedFor: list(2, resourceClaimConsumerReference, {
    listType: 'map',
    keys: ['uid'],
    patch: 'merge',
    mergeKey: 'uid',
    description: 'The consumers of the claim.',
  }),
  devices: list(4, allocatedDeviceStatus, {
    listType: 'map',
    keys: ['driver', 'device', 'pool', 'shareID'],
    description: 'The state of the devices, reported by drivers.',
  }),
})
export interface ResourceClaimStatus extends Infer<typeof resourceClaimStatus> {}

export const resourceClaimMessage = message(
  'io.k8s.api.resource.v1.ResourceClaim',
  {
    metadata: struct(1, objectMeta, {
      description: 'The name, namespace, labels, annotations and other standard metadata of the object.',
    }),
    spec: struct(2, resourceClaimSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, resourceClaimStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'A request for devices, and their allocation.',
)
export interface ResourceClaim extends ObjectOf<typeof resourceClaimMessage> {}
export type ResourceClaimInput = InputOf<typeof resourceClaimMessage>

export const resourceClaim = defineKind<ResourceClaim, ResourceClaimInput>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  singular: 'resourceclaim',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: resourceClaimMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withClaimDefaults(object.spec) }),
  validate: ({ spec, status }) => [...validateClaim(spec, 'spec'), ...validateStatus(status)],
  validateUpdate: ({ spec }, old) => (equalValues(spec, old.spec) ? [] : [immutable('spec', spec)]),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('State', stateText),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

/** The maximum number of consumers of a claim. */
export const reservedForMax = 256

function stateText({ metadata, status: { allocation, reservedFor = [] } }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (allocation === undefined) return [...states, ...(isDeleted ? [] : ['pending'])].join(',')
  return [...states, 'allocated', ...(reservedFor.length > 0 ? ['reserved'] : [])].join(',')
}

/** Only an allocated claim can be reserved, and each consumer must be identified. */
function validateStatus({ allocation, reservedFor = [] }: ResourceClaimStatus): FieldError[] {
  const path = 'status.reservedFor'
  if (reservedFor.length > reservedForMax) return [tooMany(path, reservedFor.length, reservedForMax)]
  const errors = reservedFor.flatMap((consumer, index) =>
    (['resource', 'name', 'uid'] as const)
      .filter((field) => !consumer[field])
      .map((field) => required(`${path}[${index}].${field}`)),
  )
  if (reservedFor.length > 0 && allocation === undefined)
    errors.push(forbidden(path, 'may not be specified when `allocated` is not set'))
  return errors
}
