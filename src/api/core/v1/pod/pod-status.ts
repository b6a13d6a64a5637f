// PodStatus: the observed state of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, map, message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import { resourceRequirements } from '../resources/resource-requirements.ts'
import { stopSignals } from '../container/stop-signals.ts'

export const containerStateRunning = message('io.k8s.api.core.v1.ContainerStateRunning', {
  startedAt: time(1),
})
export interface ContainerStateRunning extends Infer<typeof containerStateRunning> {}

export const containerStateTerminated = message('io.k8s.api.core.v1.ContainerStateTerminated', {
  exitCode: int32(1, { required: true }),
  signal: int32(2),
  reason: string(3),
  message: string(4),
  startedAt: time(5),
  finishedAt: time(6),
  containerID: string(7),
})
export interface ContainerStateTerminated extends Infer<typeof containerStateTerminated> {}

export const containerStateWaiting = message('io.k8s.api.core.v1.ContainerStateWaiting', {
  reason: string(1),
  message: string(2),
})
export interface ContainerStateWaiting extends Infer<typeof containerStateWaiting> {}

export const containerState = message('io.k8s.api.core.v1.ContainerState', {
  waiting: struct(1, containerStateWaiting, { pointer: true }),
  running: struct(2, containerStateRunning, { pointer: true }),
  terminated: struct(3, containerStateTerminated, { pointer: true }),
})
export interface ContainerState extends Infer<typeof containerState> {}

export const linuxContainerUser = message('io.k8s.api.core.v1.LinuxContainerUser', {
  uid: int64(1, { required: true }),
  gid: int64(2, { required: true }),
  supplementalGroups: list(3, 'int64', { listType: 'atomic' }),
})
export interface LinuxContainerUser extends Infer<typeof linuxContainerUser> {}

export const containerUser = message('io.k8s.api.core.v1.ContainerUser', {
  linux: struct(1, linuxContainerUser, { pointer: true }),
})
export interface ContainerUser extends Infer<typeof containerUser> {}

export const resourceHealth = message('io.k8s.api.core.v1.ResourceHealth', {
  resourceID: string(1, { required: true }),
  health: string(2),
  message: string(6, { pointer: true }),
})
export interface ResourceHealth extends Infer<typeof resourceHealth> {}

export const resourceStatus = message('io.k8s.api.core.v1.ResourceStatus', {
  name: string(1, { required: true }),
  resources: list(2, resourceHealth, { listType: 'map', keys: ['resourceID'] }),
})
export interface ResourceStatus extends Infer<typeof resourceStatus> {}

export const imageVolumeStatus = message('io.k8s.api.core.v1.ImageVolumeStatus', {
  imageRef: string(1, { required: true, omitEmpty: true }),
})
export interface ImageVolumeStatus extends Infer<typeof imageVolumeStatus> {}

export const volumeStatus = message('io.k8s.api.core.v1.VolumeStatus', {
  image: struct(1, imageVolumeStatus, { pointer: true }),
})
export interface VolumeStatus extends Infer<typeof volumeStatus> {}

export const volumeMountStatus = message('io.k8s.api.core.v1.VolumeMountStatus', {
  name: string(1, { required: true }),
  mountPath: string(2, { required: true }),
  readOnly: bool(3),
  recursiveReadOnly: string(4, { pointer: true }),
  volumeStatus: struct(5, volumeStatus, { pointer: true }),
})
export interface VolumeMountStatus extends Infer<typeof volumeMountStatus> {}

export const containerStatus = message('io.k8s.api.core.v1.ContainerStatus', {
  name: string(1, { required: true }),
  state: struct(2, containerState),
  lastState: struct(3, containerState),
  ready: bool(4, { required: true }),
  restartCount: int32(5, { required: true }),
  image: string(6, { required: true }),
  imageID: string(7, { required: true }),
  containerID: string(8),
  started: bool(9, { pointer: true }),
  allocatedResources: map(10, 'quantity'),
  resources: struct(11, resourceRequirements, { pointer: true }),
  volumeMounts: list(12, volumeMountStatus, {
    listType: 'map',
    keys: ['mountPath'],
    patch: 'merge',
    mergeKey: 'mountPath',
  }),
  user: struct(13, containerUser, { pointer: true }),
  allocatedResourcesStatus: list(14, resourceStatus, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
  }),
  stopSignal: string(15, { pointer: true, enum: stopSignals }),
})
export interface ContainerStatus extends Infer<typeof containerStatus> {}

export const hostIp = message('io.k8s.api.core.v1.HostIP', {
  ip: string(1, { required: true }),
})
export interface HostIP extends Infer<typeof hostIp> {}

export const podIp = message('io.k8s.api.core.v1.PodIP', {
  ip: string(1, { required: true }),
})
export interface PodIP extends Infer<typeof podIp> {}

export const podCondition = message('io.k8s.api.core.v1.PodCondition', {
  type: string(1, { required: true }),
  status: string(2, { required: true }),
  lastProbeTime: time(3),
  lastTransitionTime: time(4),
  reason: string(5),
  message: string(6),
  observedGeneration: int64(7),
})
export interface PodCondition extends Infer<typeof podCondition> {}

export const podResourceClaimStatus = message('io.k8s.api.core.v1.PodResourceClaimStatus', {
  name: string(1, { required: true }),
  resourceClaimName: string(2, { pointer: true }),
})
export interface PodResourceClaimStatus extends Infer<typeof podResourceClaimStatus> {}

export const containerExtendedResourceRequest = message('io.k8s.api.core.v1.ContainerExtendedResourceRequest', {
  containerName: string(1, { required: true }),
  resourceName: string(2, { required: true }),
  requestName: string(3, { required: true }),
})
export interface ContainerExtendedResourceRequest extends Infer<typeof containerExtendedResourceRequest> {}

export const podExtendedResourceClaimStatus = message('io.k8s.api.core.v1.PodExtendedResourceClaimStatus', {
  requestMappings: list(1, containerExtendedResourceRequest, { required: true, listType: 'atomic' }),
  resourceClaimName: string(2, { required: true }),
})
export interface PodExtendedResourceClaimStatus extends Infer<typeof podExtendedResourceClaimStatus> {}

export const nodeAllocatableResourceClaimStatus = message('io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus', {
  resourceClaimName: string(1, { required: true }),
  containers: list(2, 'string', { listType: 'set' }),
  resources: map(3, 'quantity', { required: true }),
})
export interface NodeAllocatableResourceClaimStatus extends Infer<typeof nodeAllocatableResourceClaimStatus> {}

export const podStatus = message('io.k8s.api.core.v1.PodStatus', {
  phase: string(1, {
    enum: ['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'],
    description: 'Pending, Running, Succeeded, Failed or Unknown.',
  }),
  conditions: list(2, podCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the pod, such as scheduled, initialized, ready.',
  }),
  message: string(3, { description: 'A description of the state, for people.' }),
  reason: string(4, { description: 'The reason of the state, as one word.' }),
  hostIP: string(5, { description: 'The address of its node.' }),
  podIP: string(6, { description: 'The address of the pod.' }),
  startTime: time(7, { pointer: true, description: 'When the kubelet acknowledged the pod.' }),
  containerStatuses: list(8, containerStatus, { listType: 'atomic', description: 'The status of each container.' }),
  qosClass: string(9, {
    enum: ['BestEffort', 'Burstable', 'Guaranteed'],
    description: 'The quality of service class, which determines the order of evictions.',
  }),
  initContainerStatuses: list(10, containerStatus, {
    listType: 'atomic',
    description: 'The status of each init container.',
  }),
  nominatedNodeName: string(11, { description: 'The node on which pods are being preempted for this pod.' }),
  podIPs: list(12, podIp, {
    listType: 'map',
    keys: ['ip'],
    patch: 'merge',
    mergeKey: 'ip',
    description: 'Its addresses, one for each address family.',
  }),
  ephemeralContainerStatuses: list(13, containerStatus, {
    listType: 'atomic',
    description: 'The status of each ephemeral container.',
  }),
  resize: string(14, { description: 'The progress of a resize; replaced by conditions.' }),
  resourceClaimStatuses: list(15, podResourceClaimStatus, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    description: 'The claims that were created for the pod.',
  }),
  hostIPs: list(16, hostIp, {
    listType: 'atomic',
    patch: 'merge',
    mergeKey: 'ip',
    description: 'The addresses of its node, one for each address family.',
  }),
  observedGeneration: int64(17, { description: 'The generation that this status is based on.' }),
  extendedResourceClaimStatus: struct(18, podExtendedResourceClaimStatus, {
    pointer: true,
    description: 'The claim that was created for its extended resources.',
  }),
  allocatedResources: map(19, 'quantity', { description: 'The resources that the node has allocated to the pod.' }),
  resources: struct(20, resourceRequirements, {
    pointer: true,
    description: 'The resources that are enforced for the pod.',
  }),
  nodeAllocatableResourceClaimStatuses: list(21, nodeAllocatableResourceClaimStatus, {
    listType: 'atomic',
    description: "What its claims use of the node's allocatable resources.",
  }),
})
export interface PodStatus extends Infer<typeof podStatus> {}
