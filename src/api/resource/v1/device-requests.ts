// Device requests of a claim.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, rawExtension, list, map, message, string, struct } from '../../../schema/descriptor/field.ts'

export const celDeviceSelector = message('io.k8s.api.resource.v1.CELDeviceSelector', {
  expression: string(1, { required: true }),
})
export interface CELDeviceSelector extends Infer<typeof celDeviceSelector> {}

export const deviceSelector = message('io.k8s.api.resource.v1.DeviceSelector', {
  cel: struct(1, celDeviceSelector, { pointer: true }),
})
export interface DeviceSelector extends Infer<typeof deviceSelector> {}

export const opaqueDeviceConfiguration = message('io.k8s.api.resource.v1.OpaqueDeviceConfiguration', {
  driver: string(1, { required: true }),
  parameters: rawExtension(2, { required: true }),
})
export interface OpaqueDeviceConfiguration extends Infer<typeof opaqueDeviceConfiguration> {}

export const capacityRequirements = message('io.k8s.api.resource.v1.CapacityRequirements', {
  requests: map(1, 'quantity'),
})
export interface CapacityRequirements extends Infer<typeof capacityRequirements> {}

export const deviceToleration = message('io.k8s.api.resource.v1.DeviceToleration', {
  key: string(1),
  operator: string(2, { default: 'Equal', enum: ['Equal', 'Exists'] }),
  value: string(3),
  effect: string(4, { enum: ['NoExecute', 'NoSchedule', 'None'] }),
  tolerationSeconds: int64(5, { pointer: true }),
})
export interface DeviceToleration extends Infer<typeof deviceToleration> {}

export const deviceSubRequest = message('io.k8s.api.resource.v1.DeviceSubRequest', {
  name: string(1, { required: true }),
  deviceClassName: string(2, { required: true }),
  selectors: list(3, deviceSelector, { listType: 'atomic' }),
  allocationMode: string(4, { enum: ['All', 'ExactCount'] }),
  count: int64(5),
  tolerations: list(6, deviceToleration, { listType: 'atomic' }),
  capacity: struct(7, capacityRequirements, { pointer: true }),
})
export interface DeviceSubRequest extends Infer<typeof deviceSubRequest> {}

export const exactDeviceRequest = message('io.k8s.api.resource.v1.ExactDeviceRequest', {
  deviceClassName: string(1, { required: true }),
  selectors: list(2, deviceSelector, { listType: 'atomic' }),
  allocationMode: string(3, { enum: ['All', 'ExactCount'] }),
  count: int64(4),
  adminAccess: bool(5, { pointer: true }),
  tolerations: list(6, deviceToleration, { listType: 'atomic' }),
  capacity: struct(7, capacityRequirements, { pointer: true }),
})
export interface ExactDeviceRequest extends Infer<typeof exactDeviceRequest> {}

export const deviceRequest = message('io.k8s.api.resource.v1.DeviceRequest', {
  name: string(1, { required: true }),
  exactly: struct(2, exactDeviceRequest, { pointer: true }),
  firstAvailable: list(3, deviceSubRequest, { listType: 'atomic' }),
})
export interface DeviceRequest extends Infer<typeof deviceRequest> {}

export const deviceConstraint = message('io.k8s.api.resource.v1.DeviceConstraint', {
  requests: list(1, 'string', { listType: 'atomic' }),
  matchAttribute: string(2, { pointer: true }),
  distinctAttribute: string(3, { pointer: true }),
})
export interface DeviceConstraint extends Infer<typeof deviceConstraint> {}

export const deviceClaimConfiguration = message('io.k8s.api.resource.v1.DeviceClaimConfiguration', {
  requests: list(1, 'string', { listType: 'atomic' }),
  opaque: struct(1, opaqueDeviceConfiguration, { pointer: true, embeddedAt: 2 }),
})
export interface DeviceClaimConfiguration extends Infer<typeof deviceClaimConfiguration> {}

export const deviceClaim = message('io.k8s.api.resource.v1.DeviceClaim', {
  requests: list(1, deviceRequest, { listType: 'atomic', keepEmpty: true }),
  constraints: list(2, deviceConstraint, { listType: 'atomic' }),
  config: list(3, deviceClaimConfiguration, { listType: 'atomic' }),
})
export interface DeviceClaim extends Infer<typeof deviceClaim> {}

export const resourceClaimSpec = message('io.k8s.api.resource.v1.ResourceClaimSpec', {
  devices: struct(1, deviceClaim, { description: 'The requested devices.' }),
})
export interface ResourceClaimSpec extends Infer<typeof resourceClaimSpec> {}
