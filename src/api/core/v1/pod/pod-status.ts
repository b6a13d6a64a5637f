// PodStatus: the observed state of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, map, message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import { resourceRequirements } from '../resources/resource-requirements.ts'
import { stopSignals } from '../container/stop-signals.ts'

export const containerStateRunning = message('io.k8s.api.core.v1.ContainerStateRunning', {
  startedAt: time(1, { description: 'When it was started last.' }),
})
export interface ContainerStateRunning extends Infer<typeof containerStateRunning> {}

export const containerStateTerminated = message('io.k8s.api.core.v1.ContainerStateTerminated', {
  exitCode: int32(1, {
    required: true,
    description: 'The exit code; 128 and the number of a signal if that ended it.',
  }),
  signal: int32(2, { description: 'The signal that ended it, if the runtime reports it.' }),
  reason: string(3, { description: 'Why, in one word, such as Completed, Error or OOMKilled.' }),
  message: string(4, { description: 'The termination message, or the reason in a sentence.' }),
  startedAt: time(5, { description: 'When it was started.' }),
  finishedAt: time(6, { description: 'When it ended.' }),
  containerID: string(7, { description: 'The ID of the container in the runtime.' }),
})
export interface ContainerStateTerminated extends Infer<typeof containerStateTerminated> {}

export const containerStateWaiting = message('io.k8s.api.core.v1.ContainerStateWaiting', {
  reason: string(1, { description: 'Why, in one word, such as CrashLoopBackOff.' }),
  message: string(2, { description: 'Why, in a sentence.' }),
})
export interface ContainerStateWaiting extends Infer<typeof containerStateWaiting> {}

export const containerState = message('io.k8s.api.core.v1.ContainerState', {
  waiting: struct(1, containerStateWaiting, { pointer: true, description: 'It does not run yet, or not again.' }),
  running: struct(2, containerStateRunning, { pointer: true, description: 'It runs.' }),
  terminated: struct(3, containerStateTerminated, { pointer: true, description: 'It has ended.' }),
})
export interface ContainerState extends Infer<typeof containerState> {}

export const linuxContainerUser = message('io.k8s.api.core.v1.LinuxContainerUser', {
  uid: int64(1, { required: true, description: 'The user ID of the first process.' }),
  gid: int64(2, { required: true, description: 'Its group ID.' }),
  supplementalGroups: list(3, 'int64', { listType: 'atomic', description: 'Its further group IDs.' }),
})
export interface LinuxContainerUser extends Infer<typeof linuxContainerUser> {}

export const containerUser = message('io.k8s.api.core.v1.ContainerUser', {
  linux: struct(1, linuxContainerUser, { pointer: true, description: 'The user on Linux.' }),
})
export interface ContainerUser extends Infer<typeof containerUser> {}

export const resourceHealth = message('io.k8s.api.core.v1.ResourceHealth', {
  resourceID: string(1, { required: true, description: 'The ID of the device.' }),
  health: string(2, { description: 'Healthy, Unhealthy or Unknown.' }),
  message: string(6, { pointer: true, description: 'The health in a sentence.' }),
})
export interface ResourceHealth extends Infer<typeof resourceHealth> {}

export const resourceStatus = message('io.k8s.api.core.v1.ResourceStatus', {
  name: string(1, {
    required: true,
    description: 'The resource: the name of an extended resource, or claim:<claim>/<request>.',
  }),
  resources: list(2, resourceHealth, { listType: 'map', keys: ['resourceID'], description: 'Its devices.' }),
})
export interface ResourceStatus extends Infer<typeof resourceStatus> {}

export const imageVolumeStatus = message('io.k8s.api.core.v1.ImageVolumeStatus', {
  imageRef: string(1, { required: true, omitEmpty: true, description: 'The digest of the image.' }),
})
export interface ImageVolumeStatus extends Infer<typeof imageVolumeStatus> {}

export const volumeStatus = message('io.k8s.api.core.v1.VolumeStatus', {
  image: struct(1, imageVolumeStatus, { pointer: true, description: 'The state of an image volume.' }),
})
export interface VolumeStatus extends Infer<typeof volumeStatus> {}

export const volumeMountStatus = message('io.k8s.api.core.v1.VolumeMountStatus', {
  name: string(1, { required: true, description: 'The name of the volume.' }),
  mountPath: string(2, { required: true, description: 'The path in the container.' }),
  readOnly: bool(3, { description: 'Whether it is mounted read-only.' }),
  recursiveReadOnly: string(4, {
    pointer: true,
    description: 'Whether mounts below it are read-only too: Disabled, IfPossible or Enabled.',
  }),
  volumeStatus: struct(5, volumeStatus, { pointer: true, description: 'The state of the volume itself.' }),
})
export interface VolumeMountStatus extends Infer<typeof volumeMountStatus> {}

export const containerStatus = message('io.k8s.api.core.v1.ContainerStatus', {
  name: string(1, { required: true, description: 'The name of the container.' }),
  state: struct(2, containerState, { description: 'Its present state.' }),
  lastState: struct(3, containerState, { description: 'The state before the last restart.' }),
  ready: bool(4, { required: true, description: 'Whether it passes its readiness probe.' }),
  restartCount: int32(5, { required: true, description: 'How often it was restarted.' }),
  image: string(6, { required: true, description: 'The image that it runs.' }),
  imageID: string(7, { required: true, description: 'The digest of the image.' }),
  containerID: string(8, { description: 'The ID of the container in the runtime, such as containerd://….' }),
  started: bool(9, { pointer: true, description: 'Whether it has passed its startup probe.' }),
  allocatedResources: map(10, 'quantity', { description: 'The resources that the node has reserved for it.' }),
  resources: struct(11, resourceRequirements, {
    pointer: true,
    description: 'The requests and limits that are in effect.',
  }),
  volumeMounts: list(12, volumeMountStatus, {
    listType: 'map',
    keys: ['mountPath'],
    patch: 'merge',
    mergeKey: 'mountPath',
    description: 'The state of its mounts.',
  }),
  user: struct(13, containerUser, { pointer: true, description: 'The user and groups of its first process.' }),
  allocatedResourcesStatus: list(14, resourceStatus, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'The health of the devices that it uses.',
  }),
  stopSignal: string(15, { pointer: true, enum: stopSignals, description: 'The signal that ends it.' }),
})
export interface ContainerStatus extends Infer<typeof containerStatus> {}

export const hostIp = message('io.k8s.api.core.v1.HostIP', {
  ip: string(1, { required: true, description: 'An address of the node.' }),
})
export interface HostIP extends Infer<typeof hostIp> {}

export const podIp = message('io.k8s.api.core.v1.PodIP', {
  ip: string(1, { required: true, description: 'An address of the pod.' }),
})
export interface PodIP extends Infer<typeof podIp> {}

export const podCondition = message('io.k8s.api.core.v1.PodCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastProbeTime: time(3, { description: 'When the condition was checked last.' }),
  lastTransitionTime: time(4, { description: 'When the status changed last.' }),
  reason: string(5, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { description: 'A sentence for people about the last transition.' }),
  observedGeneration: int64(7, { description: 'The generation of the object that the condition is about.' }),
})
export interface PodCondition extends Infer<typeof podCondition> {}

export const podResourceClaimStatus = message('io.k8s.api.core.v1.PodResourceClaimStatus', {
  name: string(1, { required: true, description: 'The name of the entry in resourceClaims of the pod.' }),
  resourceClaimName: string(2, { pointer: true, description: 'The name of the claim that was created for it.' }),
})
export interface PodResourceClaimStatus extends Infer<typeof podResourceClaimStatus> {}

export const containerExtendedResourceRequest = message('io.k8s.api.core.v1.ContainerExtendedResourceRequest', {
  containerName: string(1, { required: true, description: 'The name of the container.' }),
  resourceName: string(2, { required: true, description: 'The name of the extended resource.' }),
  requestName: string(3, { required: true, description: 'The name of the request in the claim.' }),
})
export interface ContainerExtendedResourceRequest extends Infer<typeof containerExtendedResourceRequest> {}

export const podExtendedResourceClaimStatus = message('io.k8s.api.core.v1.PodExtendedResourceClaimStatus', {
  requestMappings: list(1, containerExtendedResourceRequest, {
    required: true,
    listType: 'atomic',
    description: 'Which request of the claim stands for which resource of which container.',
  }),
  resourceClaimName: string(2, {
    required: true,
    description: 'The name of the claim that was created for the extended resources.',
  }),
})
export interface PodExtendedResourceClaimStatus extends Infer<typeof podExtendedResourceClaimStatus> {}

export const nodeAllocatableResourceClaimStatus = message('io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus', {
  resourceClaimName: string(1, { required: true, description: 'The name of the claim.' }),
  containers: list(2, 'string', { listType: 'set', description: 'The containers that use it.' }),
  resources: map(3, 'quantity', { required: true, description: 'The resources of the node that it takes.' }),
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
