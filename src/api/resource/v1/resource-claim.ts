// ResourceClaim: a request for devices, their allocation, and its consumers.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, rawExtension, list, map, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { nodeSelector } from '../../core/v1/scheduling/affinity.ts'
import { condition } from '../../meta/v1/condition.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'

import { validateClaim, withClaimDefaults } from './claim-rules.ts'
import { deviceToleration, opaqueDeviceConfiguration, resourceClaimSpec } from './device-requests.ts'
import { forbidden, immutable, required, tooMany, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const deviceAllocationConfiguration = message('io.k8s.api.resource.v1.DeviceAllocationConfiguration', {
  source: string(1, { required: true, enum: ['FromClaim', 'FromClass'], description: 'FromClass or FromClaim.' }),
  requests: list(2, 'string', { listType: 'atomic', description: 'The requests that it is about; all without it.' }),
  opaque: struct(1, opaqueDeviceConfiguration, {
    pointer: true,
    embeddedAt: 3,
    description: 'Parameters of a driver.',
  }),
})
export interface DeviceAllocationConfiguration extends Infer<typeof deviceAllocationConfiguration> {}

export const deviceRequestAllocationResult = message('io.k8s.api.resource.v1.DeviceRequestAllocationResult', {
  request: string(1, { required: true, description: 'The name of the request.' }),
  driver: string(2, { required: true, description: 'The name of the driver.' }),
  pool: string(3, { required: true, description: 'The pool of the device.' }),
  device: string(4, { required: true, description: 'The name of the device.' }),
  adminAccess: bool(5, { pointer: true, description: 'Whether it is used for monitoring and maintenance.' }),
  tolerations: list(6, deviceToleration, { listType: 'atomic', description: 'The taints that are tolerated.' }),
  bindingConditions: list(7, 'string', {
    listType: 'atomic',
    description: 'Conditions of the device that must be True before a pod is bound.',
  }),
  bindingFailureConditions: list(8, 'string', {
    listType: 'atomic',
    description: 'Conditions of the device of which one that is True ends the allocation.',
  }),
  shareID: string(9, { pointer: true, description: 'The ID of a share of the device.' }),
  consumedCapacity: map(10, 'quantity', { description: 'How much of the capacity the share uses.' }),
})
export interface DeviceRequestAllocationResult extends Infer<typeof deviceRequestAllocationResult> {}

export const deviceAllocationResult = message('io.k8s.api.resource.v1.DeviceAllocationResult', {
  results: list(1, deviceRequestAllocationResult, { listType: 'atomic', description: 'The allocated devices.' }),
  config: list(2, deviceAllocationConfiguration, {
    listType: 'atomic',
    description: 'Configuration of the devices, of claim and class.',
  }),
})
export interface DeviceAllocationResult extends Infer<typeof deviceAllocationResult> {}

export const allocationResult = message('io.k8s.api.resource.v1.AllocationResult', {
  devices: struct(1, deviceAllocationResult, { description: 'The allocated devices.' }),
  nodeSelector: struct(3, nodeSelector, {
    pointer: true,
    description: 'The nodes on which the claim can be used; all without it.',
  }),
  allocationTimestamp: time(5, { pointer: true, description: 'When the devices were allocated.' }),
})
export interface AllocationResult extends Infer<typeof allocationResult> {}

export const networkDeviceData = message('io.k8s.api.resource.v1.NetworkDeviceData', {
  interfaceName: string(1, { description: 'The name of the interface in the pod.' }),
  ips: list(2, 'string', { listType: 'atomic', description: 'Its addresses, with the lengths of their prefixes.' }),
  hardwareAddress: string(3, { description: 'Its MAC address.' }),
})
export interface NetworkDeviceData extends Infer<typeof networkDeviceData> {}

export const allocatedDeviceStatus = message('io.k8s.api.resource.v1.AllocatedDeviceStatus', {
  driver: string(1, { required: true, description: 'The name of the driver.' }),
  pool: string(2, { required: true, description: 'The pool of the device.' }),
  device: string(3, { required: true, description: 'The name of the device.' }),
  conditions: list(4, condition, {
    listType: 'map',
    keys: ['type'],
    keepEmpty: true,
    description: 'The state of the device.',
  }),
  data: rawExtension(5, { pointer: true, description: 'Data of the driver.' }),
  networkData: struct(6, networkDeviceData, { pointer: true, description: 'The network interface of the device.' }),
  shareID: string(7, { pointer: true, description: 'The ID of a share of the device.' }),
})
export interface AllocatedDeviceStatus extends Infer<typeof allocatedDeviceStatus> {}

export const resourceClaimConsumerReference = message('io.k8s.api.resource.v1.ResourceClaimConsumerReference', {
  apiGroup: string(1, { description: 'The API group of the consumer; the core group without it.' }),
  resource: string(3, { required: true, description: 'The resource of the consumer, such as pods.' }),
  name: string(4, { required: true, description: 'The name of the consumer.' }),
  uid: string(5, { required: true, description: 'The uid of the consumer.' }),
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
    metadata: objectMetaField,
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
