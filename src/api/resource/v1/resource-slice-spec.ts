// ResourceSliceSpec: devices with their attributes, capacities, counters and taints.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, list, map, message, quantity, string, struct, time } from '../../../schema/descriptor/field.ts'
import { nodeSelector } from '../../core/v1/scheduling/affinity.ts'

export const deviceAttribute = message('io.k8s.api.resource.v1.DeviceAttribute', {
  int: int64(2, { pointer: true }),
  bool: bool(3, { pointer: true }),
  string: string(4, { pointer: true }),
  version: string(5, { pointer: true }),
  ints: list(6, 'int64', { listType: 'atomic' }),
  bools: list(7, 'bool', { listType: 'atomic' }),
  strings: list(8, 'string', { listType: 'atomic' }),
  versions: list(9, 'string', { listType: 'atomic' }),
})
export interface DeviceAttribute extends Infer<typeof deviceAttribute> {}

export const capacityRequestPolicyRange = message('io.k8s.api.resource.v1.CapacityRequestPolicyRange', {
  min: quantity(1, { required: true, omitEmpty: true, pointer: true }),
  max: quantity(2, { pointer: true }),
  step: quantity(3, { pointer: true }),
})
export interface CapacityRequestPolicyRange extends Infer<typeof capacityRequestPolicyRange> {}

export const capacityRequestPolicy = message('io.k8s.api.resource.v1.CapacityRequestPolicy', {
  default: quantity(1, { pointer: true, keepEmpty: true }),
  validValues: list(3, 'quantity', { listType: 'atomic' }),
  validRange: struct(4, capacityRequestPolicyRange, { pointer: true }),
})
export interface CapacityRequestPolicy extends Infer<typeof capacityRequestPolicy> {}

export const deviceCapacity = message('io.k8s.api.resource.v1.DeviceCapacity', {
  value: quantity(1, { required: true }),
  requestPolicy: struct(2, capacityRequestPolicy, { pointer: true }),
})
export interface DeviceCapacity extends Infer<typeof deviceCapacity> {}

export const counter = message('io.k8s.api.resource.v1.Counter', {
  value: quantity(1, { required: true }),
})
export interface Counter extends Infer<typeof counter> {}

export const deviceCounterConsumption = message('io.k8s.api.resource.v1.DeviceCounterConsumption', {
  counterSet: string(1, { required: true }),
  counters: map(2, counter, { required: true, omitEmpty: true }),
})
export interface DeviceCounterConsumption extends Infer<typeof deviceCounterConsumption> {}

export const nodeAllocatableResourceMapping = message('io.k8s.api.resource.v1.NodeAllocatableResourceMapping', {
  capacityKey: string(1, { pointer: true }),
  allocationMultiplier: quantity(2, { pointer: true }),
})
export interface NodeAllocatableResourceMapping extends Infer<typeof nodeAllocatableResourceMapping> {}

export const deviceTaint = message('io.k8s.api.resource.v1.DeviceTaint', {
  key: string(1, { required: true }),
  value: string(2),
  effect: string(3, { required: true, enum: ['NoExecute', 'NoSchedule', 'None'] }),
  timeAdded: time(4, { pointer: true }),
})
export interface DeviceTaint extends Infer<typeof deviceTaint> {}

export const device = message('io.k8s.api.resource.v1.Device', {
  name: string(1, { required: true }),
  attributes: map(2, deviceAttribute),
  capacity: map(3, deviceCapacity),
  consumesCounters: list(4, deviceCounterConsumption, { listType: 'atomic' }),
  nodeName: string(5, { pointer: true }),
  nodeSelector: struct(6, nodeSelector, { pointer: true }),
  allNodes: bool(7, { pointer: true }),
  taints: list(8, deviceTaint, { listType: 'atomic' }),
  bindsToNode: bool(9, { pointer: true }),
  bindingConditions: list(10, 'string', { listType: 'atomic' }),
  bindingFailureConditions: list(11, 'string', { listType: 'atomic' }),
  allowMultipleAllocations: bool(12, { pointer: true }),
  nodeAllocatableResourceMappings: map(13, nodeAllocatableResourceMapping),
})
export interface Device extends Infer<typeof device> {}

export const resourcePool = message('io.k8s.api.resource.v1.ResourcePool', {
  name: string(1, { required: true }),
  generation: int64(2, { required: true }),
  resourceSliceCount: int64(3, { required: true }),
})
export interface ResourcePool extends Infer<typeof resourcePool> {}

export const counterSet = message('io.k8s.api.resource.v1.CounterSet', {
  name: string(1, { required: true }),
  counters: map(2, counter, { required: true, omitEmpty: true }),
})
export interface CounterSet extends Infer<typeof counterSet> {}

export const resourceSliceSpec = message('io.k8s.api.resource.v1.ResourceSliceSpec', {
  driver: string(1, { required: true, description: 'The driver.' }),
  pool: struct(2, resourcePool, {
    required: true,
    description: 'The pool that the devices belong to, and how many slices it has.',
  }),
  nodeName: string(3, { pointer: true, description: 'The node that has the devices.' }),
  nodeSelector: struct(4, nodeSelector, { pointer: true, description: 'The nodes that can access the devices.' }),
  allNodes: bool(5, { pointer: true, description: 'Whether all nodes can access the devices.' }),
  devices: list(6, device, { listType: 'atomic', description: 'The devices.' }),
  perDeviceNodeSelection: bool(7, {
    pointer: true,
    description: 'Whether each device specifies its own nodes.',
  }),
  sharedCounters: list(8, counterSet, { listType: 'atomic', description: 'Counters that several devices share.' }),
})
export interface ResourceSliceSpec extends Infer<typeof resourceSliceSpec> {}
