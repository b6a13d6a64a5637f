// Device requests of a claim.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, rawExtension, list, map, message, string, struct } from '../../../schema/descriptor/field.ts'

export const celDeviceSelector = message('io.k8s.api.resource.v1.CELDeviceSelector', {
  expression: string(1, {
    required: true,
    description: 'The expression, which must return true, such as device.driver == "gpu.example.com".',
  }),
})
export interface CELDeviceSelector extends Infer<typeof celDeviceSelector> {}

export const deviceSelector = message('io.k8s.api.resource.v1.DeviceSelector', {
  cel: struct(1, celDeviceSelector, {
    pointer: true,
    description: 'A CEL expression on the attributes and the capacity of a device.',
  }),
})
export interface DeviceSelector extends Infer<typeof deviceSelector> {}

export const opaqueDeviceConfiguration = message('io.k8s.api.resource.v1.OpaqueDeviceConfiguration', {
  driver: string(1, { required: true, description: 'The name of the driver.' }),
  parameters: rawExtension(2, { required: true, description: 'Its parameters, in the form that it defines.' }),
})
export interface OpaqueDeviceConfiguration extends Infer<typeof opaqueDeviceConfiguration> {}

export const capacityRequirements = message('io.k8s.api.resource.v1.CapacityRequirements', {
  requests: map(1, 'quantity', { description: 'The amounts by name of the capacity.' }),
})
export interface CapacityRequirements extends Infer<typeof capacityRequirements> {}

export const deviceToleration = message('io.k8s.api.resource.v1.DeviceToleration', {
  key: string(1, { description: 'The key of the taint; all taints without it, with the operator Exists.' }),
  operator: string(2, { default: 'Equal', enum: ['Equal', 'Exists'], description: 'Equal (the default) or Exists.' }),
  value: string(3, { description: 'The value of the taint for Equal.' }),
  effect: string(4, {
    enum: ['NoExecute', 'NoSchedule', 'None'],
    description: 'NoSchedule or NoExecute; all without it.',
  }),
  tolerationSeconds: int64(5, {
    pointer: true,
    description: 'Seconds that a NoExecute taint is tolerated; forever by default.',
  }),
})
export interface DeviceToleration extends Infer<typeof deviceToleration> {}

export const deviceSubRequest = message('io.k8s.api.resource.v1.DeviceSubRequest', {
  name: string(1, { required: true, description: 'The name of the alternative, unique in the request.' }),
  deviceClassName: string(2, { required: true, description: 'The DeviceClass of the devices.' }),
  selectors: list(3, deviceSelector, { listType: 'atomic', description: 'Conditions that a device must meet.' }),
  allocationMode: string(4, {
    enum: ['All', 'ExactCount'],
    description: 'ExactCount (the default) or All matching devices.',
  }),
  count: int64(5, { description: 'The number of devices for ExactCount; 1 by default.' }),
  tolerations: list(6, deviceToleration, {
    listType: 'atomic',
    description: 'The taints of devices that are tolerated.',
  }),
  capacity: struct(7, capacityRequirements, {
    pointer: true,
    description: 'How much of the capacity of each device is needed.',
  }),
})
export interface DeviceSubRequest extends Infer<typeof deviceSubRequest> {}

export const exactDeviceRequest = message('io.k8s.api.resource.v1.ExactDeviceRequest', {
  deviceClassName: string(1, { required: true, description: 'The DeviceClass of the devices.' }),
  selectors: list(2, deviceSelector, { listType: 'atomic', description: 'Conditions that a device must meet.' }),
  allocationMode: string(3, {
    enum: ['All', 'ExactCount'],
    description: 'ExactCount (the default) or All matching devices.',
  }),
  count: int64(4, { description: 'The number of devices for ExactCount; 1 by default.' }),
  adminAccess: bool(5, {
    pointer: true,
    description: 'Whether devices are used for monitoring and maintenance although others use them; false by default.',
  }),
  tolerations: list(6, deviceToleration, {
    listType: 'atomic',
    description: 'The taints of devices that are tolerated.',
  }),
  capacity: struct(7, capacityRequirements, {
    pointer: true,
    description: 'How much of the capacity of each device is needed.',
  }),
})
export interface ExactDeviceRequest extends Infer<typeof exactDeviceRequest> {}

export const deviceRequest = message('io.k8s.api.resource.v1.DeviceRequest', {
  name: string(1, { required: true, description: 'The name of the request, unique in the claim.' }),
  exactly: struct(2, exactDeviceRequest, { pointer: true, description: 'The devices.' }),
  firstAvailable: list(3, deviceSubRequest, {
    listType: 'atomic',
    description: 'Alternatives, the preferred one first.',
  }),
})
export interface DeviceRequest extends Infer<typeof deviceRequest> {}

export const deviceConstraint = message('io.k8s.api.resource.v1.DeviceConstraint', {
  requests: list(1, 'string', { listType: 'atomic', description: 'The requests that it is about; all without it.' }),
  matchAttribute: string(2, {
    pointer: true,
    description: 'An attribute that must have the same value for all devices.',
  }),
  distinctAttribute: string(3, {
    pointer: true,
    description: 'An attribute that must have a different value for each device.',
  }),
})
export interface DeviceConstraint extends Infer<typeof deviceConstraint> {}

export const deviceClaimConfiguration = message('io.k8s.api.resource.v1.DeviceClaimConfiguration', {
  requests: list(1, 'string', { listType: 'atomic', description: 'The requests that it is about; all without it.' }),
  opaque: struct(1, opaqueDeviceConfiguration, {
    pointer: true,
    embeddedAt: 2,
    description: 'Parameters of a driver.',
  }),
})
export interface DeviceClaimConfiguration extends Infer<typeof deviceClaimConfiguration> {}

export const deviceClaim = message('io.k8s.api.resource.v1.DeviceClaim', {
  requests: list(1, deviceRequest, { listType: 'atomic', keepEmpty: true, description: 'The wanted devices.' }),
  constraints: list(2, deviceConstraint, {
    listType: 'atomic',
    description: 'Conditions that several devices must meet together.',
  }),
  config: list(3, deviceClaimConfiguration, { listType: 'atomic', description: 'Configuration of the devices.' }),
})
export interface DeviceClaim extends Infer<typeof deviceClaim> {}

export const resourceClaimSpec = message('io.k8s.api.resource.v1.ResourceClaimSpec', {
  devices: struct(1, deviceClaim, { description: 'The requested devices.' }),
})
export interface ResourceClaimSpec extends Infer<typeof resourceClaimSpec> {}
