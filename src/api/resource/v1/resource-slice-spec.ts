// ResourceSliceSpec: devices with their attributes, capacities, counters and taints.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, list, map, message, quantity, string, struct, time } from '../../../schema/descriptor/field.ts'
import { nodeSelector } from '../../core/v1/scheduling/affinity.ts'

export const deviceAttribute = message('io.k8s.api.resource.v1.DeviceAttribute', {
  int: int64(2, { pointer: true, description: 'A number.' }),
  bool: bool(3, { pointer: true, description: 'A truth value.' }),
  string: string(4, { pointer: true, description: 'A text of at most 64 characters.' }),
  version: string(5, { pointer: true, description: 'A semantic version.' }),
  ints: list(6, 'int64', { listType: 'atomic', description: 'Several numbers.' }),
  bools: list(7, 'bool', { listType: 'atomic', description: 'Several truth values.' }),
  strings: list(8, 'string', { listType: 'atomic', description: 'Several texts.' }),
  versions: list(9, 'string', { listType: 'atomic', description: 'Several semantic versions.' }),
})
export interface DeviceAttribute extends Infer<typeof deviceAttribute> {}

export const capacityRequestPolicyRange = message('io.k8s.api.resource.v1.CapacityRequestPolicyRange', {
  min: quantity(1, { required: true, omitEmpty: true, pointer: true, description: 'The smallest amount.' }),
  max: quantity(2, { pointer: true, description: 'The largest amount.' }),
  step: quantity(3, { pointer: true, description: 'Amounts are rounded up to a multiple of it.' }),
})
export interface CapacityRequestPolicyRange extends Infer<typeof capacityRequestPolicyRange> {}

export const capacityRequestPolicy = message('io.k8s.api.resource.v1.CapacityRequestPolicy', {
  default: quantity(1, { pointer: true, keepEmpty: true, description: 'The amount of requests that name none.' }),
  validValues: list(3, 'quantity', {
    listType: 'atomic',
    description: 'The amounts that can be requested; others are rounded up.',
  }),
  validRange: struct(4, capacityRequestPolicyRange, {
    pointer: true,
    description: 'The range of amounts that can be requested.',
  }),
})
export interface CapacityRequestPolicy extends Infer<typeof capacityRequestPolicy> {}

export const deviceCapacity = message('io.k8s.api.resource.v1.DeviceCapacity', {
  value: quantity(1, { required: true, description: 'The amount.' }),
  requestPolicy: struct(2, capacityRequestPolicy, {
    pointer: true,
    description: 'Which amounts can be requested of a shared device.',
  }),
})
export interface DeviceCapacity extends Infer<typeof deviceCapacity> {}

export const counter = message('io.k8s.api.resource.v1.Counter', {
  value: quantity(1, { required: true, description: 'The amount.' }),
})
export interface Counter extends Infer<typeof counter> {}

export const deviceCounterConsumption = message('io.k8s.api.resource.v1.DeviceCounterConsumption', {
  counterSet: string(1, { required: true, description: 'The name of the set of counters.' }),
  counters: map(2, counter, { required: true, omitEmpty: true, description: 'What is taken of each counter.' }),
})
export interface DeviceCounterConsumption extends Infer<typeof deviceCounterConsumption> {}

export const nodeAllocatableResourceMapping = message('io.k8s.api.resource.v1.NodeAllocatableResourceMapping', {
  capacityKey: string(1, { pointer: true, description: 'The capacity of the device that determines the amount.' }),
  allocationMultiplier: quantity(2, {
    pointer: true,
    description: 'The amount for each unit of the capacity, or for each device.',
  }),
})
export interface NodeAllocatableResourceMapping extends Infer<typeof nodeAllocatableResourceMapping> {}

export const deviceTaint = message('io.k8s.api.resource.v1.DeviceTaint', {
  key: string(1, { required: true, description: 'The key of the taint.' }),
  value: string(2, { description: 'The value of the taint.' }),
  effect: string(3, {
    required: true,
    enum: ['NoExecute', 'NoSchedule', 'None'],
    description: 'NoSchedule, or NoExecute, which also evicts pods; None has no effect.',
  }),
  timeAdded: time(4, { pointer: true, description: 'When the taint was added.' }),
})
export interface DeviceTaint extends Infer<typeof deviceTaint> {}

export const device = message('io.k8s.api.resource.v1.Device', {
  name: string(1, { required: true, description: 'The name of the device, unique in the pool.' }),
  attributes: map(2, deviceAttribute, { description: 'Properties that selectors can use.' }),
  capacity: map(3, deviceCapacity, { description: 'Amounts that selectors and requests can use.' }),
  consumesCounters: list(4, deviceCounterConsumption, {
    listType: 'atomic',
    description: 'What the device takes of shared counters.',
  }),
  nodeName: string(5, {
    pointer: true,
    description: 'The node of the device, where the slice has devices of several.',
  }),
  nodeSelector: struct(6, nodeSelector, { pointer: true, description: 'The nodes that can use the device.' }),
  allNodes: bool(7, { pointer: true, description: 'Whether all nodes can use the device.' }),
  taints: list(8, deviceTaint, { listType: 'atomic', description: 'Why the device should not be used.' }),
  bindsToNode: bool(9, { pointer: true, description: 'Whether the claim is bound to the node that was selected.' }),
  bindingConditions: list(10, 'string', {
    listType: 'atomic',
    description: 'Conditions that must be True before a pod is bound; at most 4.',
  }),
  bindingFailureConditions: list(11, 'string', {
    listType: 'atomic',
    description: 'Conditions of which one that is True ends the allocation; at most 4.',
  }),
  allowMultipleAllocations: bool(12, {
    pointer: true,
    description: 'Whether several claims can share the device; false by default.',
  }),
  nodeAllocatableResourceMappings: map(13, nodeAllocatableResourceMapping, {
    description: 'The resources of the node that the device takes.',
  }),
})
export interface Device extends Infer<typeof device> {}

export const resourcePool = message('io.k8s.api.resource.v1.ResourcePool', {
  name: string(1, { required: true, description: 'The name of the pool.' }),
  generation: int64(2, {
    required: true,
    description: 'The version of the pool: slices of older generations are ignored.',
  }),
  resourceSliceCount: int64(3, { required: true, description: 'How many ResourceSlices the pool has.' }),
})
export interface ResourcePool extends Infer<typeof resourcePool> {}

export const counterSet = message('io.k8s.api.resource.v1.CounterSet', {
  name: string(1, { required: true, description: 'The name of the set, unique in the pool.' }),
  counters: map(2, counter, { required: true, omitEmpty: true, description: 'The counters.' }),
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
