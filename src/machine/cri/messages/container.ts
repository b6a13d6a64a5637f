// Containers.
import { enumeration, mapOf, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'
import { imageSpec } from './image.ts'
import { containerResources, linuxContainerResources } from './resources.ts'
import { podSandboxConfig, podSandboxStatus } from './sandbox.ts'
import { linuxContainerSecurityContext } from './security.ts'

const mountPropagation = enumeration(
  'PROPAGATION_PRIVATE',
  'PROPAGATION_HOST_TO_CONTAINER',
  'PROPAGATION_BIDIRECTIONAL',
)
const containerState = enumeration('CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN')
export const signal = enumeration(
  'RUNTIME_DEFAULT',
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGIO',
  'SIGIOT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGRTMIN',
  'SIGRTMINPLUS1',
  'SIGRTMINPLUS2',
  'SIGRTMINPLUS3',
  'SIGRTMINPLUS4',
  'SIGRTMINPLUS5',
  'SIGRTMINPLUS6',
  'SIGRTMINPLUS7',
  'SIGRTMINPLUS8',
  'SIGRTMINPLUS9',
  'SIGRTMINPLUS10',
  'SIGRTMINPLUS11',
  'SIGRTMINPLUS12',
  'SIGRTMINPLUS13',
  'SIGRTMINPLUS14',
  'SIGRTMINPLUS15',
  'SIGRTMAXMINUS14',
  'SIGRTMAXMINUS13',
  'SIGRTMAXMINUS12',
  'SIGRTMAXMINUS11',
  'SIGRTMAXMINUS10',
  'SIGRTMAXMINUS9',
  'SIGRTMAXMINUS8',
  'SIGRTMAXMINUS7',
  'SIGRTMAXMINUS6',
  'SIGRTMAXMINUS5',
  'SIGRTMAXMINUS4',
  'SIGRTMAXMINUS3',
  'SIGRTMAXMINUS2',
  'SIGRTMAXMINUS1',
  'SIGRTMAX',
)
const containerEventType = enumeration(
  'CONTAINER_CREATED_EVENT',
  'CONTAINER_STARTED_EVENT',
  'CONTAINER_STOPPED_EVENT',
  'CONTAINER_DELETED_EVENT',
)

export const containerMetadata = protoMessage('runtime.v1.ContainerMetadata', {
  name: one(1, 'string'),
  attempt: one(2, 'uint32'),
})

export const mount = protoMessage('runtime.v1.Mount', {
  containerPath: one(1, 'string'),
  hostPath: one(2, 'string'),
  readonly: one(3, 'bool'),
  selinuxRelabel: one(4, 'bool'),
  propagation: one(5, mountPropagation),
  recursiveReadOnly: one(8, 'bool'),
  image: one(9, imageSpec),
  imageSubPath: one(10, 'string'),
})

const linuxContainerUser = protoMessage('runtime.v1.LinuxContainerUser', {
  uid: one(1, 'int64'),
  gid: one(2, 'int64'),
  supplementalGroups: repeated(3, 'int64'),
})

const containerUser = protoMessage('runtime.v1.ContainerUser', { linux: one(1, linuxContainerUser) })

export const containerStatus = protoMessage('runtime.v1.ContainerStatus', {
  id: one(1, 'string'),
  metadata: one(2, containerMetadata),
  state: one(3, containerState),
  createdAt: one(4, 'int64Big'),
  startedAt: one(5, 'int64Big'),
  finishedAt: one(6, 'int64Big'),
  exitCode: one(7, 'int32'),
  image: one(8, imageSpec),
  imageRef: one(9, 'string'),
  reason: one(10, 'string'),
  message: one(11, 'string'),
  labels: mapOf(12, 'string'),
  annotations: mapOf(13, 'string'),
  mounts: repeated(14, mount),
  logPath: one(15, 'string'),
  resources: one(16, containerResources),
  imageId: one(17, 'string'),
  user: one(18, containerUser),
  stopSignal: one(19, signal),
})

export const keyValue = protoMessage('runtime.v1.KeyValue', {
  key: one(1, 'string'),
  value: one(2, 'bytes'),
})

export const device = protoMessage('runtime.v1.Device', {
  containerPath: one(1, 'string'),
  hostPath: one(2, 'string'),
  permissions: one(3, 'string'),
})

export const linuxContainerConfig = protoMessage('runtime.v1.LinuxContainerConfig', {
  resources: one(1, linuxContainerResources),
  securityContext: one(2, linuxContainerSecurityContext),
})

export const containerConfig = protoMessage('runtime.v1.ContainerConfig', {
  metadata: one(1, containerMetadata),
  image: one(2, imageSpec),
  command: repeated(3, 'string'),
  args: repeated(4, 'string'),
  workingDir: one(5, 'string'),
  envs: repeated(6, keyValue),
  mounts: repeated(7, mount),
  devices: repeated(8, device),
  labels: mapOf(9, 'string'),
  annotations: mapOf(10, 'string'),
  logPath: one(11, 'string'),
  stdin: one(12, 'bool'),
  stdinOnce: one(13, 'bool'),
  tty: one(14, 'bool'),
  linux: one(15, linuxContainerConfig),
  stopSignal: one(18, signal),
})

export const createContainerRequest = protoMessage('runtime.v1.CreateContainerRequest', {
  podSandboxId: one(1, 'string'),
  config: one(2, containerConfig),
  sandboxConfig: one(3, podSandboxConfig),
})

export const createContainerResponse = protoMessage('runtime.v1.CreateContainerResponse', {
  containerId: one(1, 'string'),
})

export const startContainerRequest = protoMessage('runtime.v1.StartContainerRequest', {
  containerId: one(1, 'string'),
})

export const startContainerResponse = protoMessage('runtime.v1.StartContainerResponse', {})

export const stopContainerRequest = protoMessage('runtime.v1.StopContainerRequest', {
  containerId: one(1, 'string'),
  timeout: one(2, 'int64'),
})

export const stopContainerResponse = protoMessage('runtime.v1.StopContainerResponse', {})

export const removeContainerRequest = protoMessage('runtime.v1.RemoveContainerRequest', {
  containerId: one(1, 'string'),
})

export const removeContainerResponse = protoMessage('runtime.v1.RemoveContainerResponse', {})

export const containerStateValue = protoMessage('runtime.v1.ContainerStateValue', {
  state: one(1, containerState),
})

export const containerFilter = protoMessage('runtime.v1.ContainerFilter', {
  id: one(1, 'string'),
  state: one(2, containerStateValue),
  podSandboxId: one(3, 'string'),
  labelSelector: mapOf(4, 'string'),
})

export const listContainersRequest = protoMessage('runtime.v1.ListContainersRequest', {
  filter: one(1, containerFilter),
})

export const container = protoMessage('runtime.v1.Container', {
  id: one(1, 'string'),
  podSandboxId: one(2, 'string'),
  metadata: one(3, containerMetadata),
  image: one(4, imageSpec),
  imageRef: one(5, 'string'),
  state: one(6, containerState),
  createdAt: one(7, 'int64Big'),
  labels: mapOf(8, 'string'),
  annotations: mapOf(9, 'string'),
  imageId: one(10, 'string'),
})

export const listContainersResponse = protoMessage('runtime.v1.ListContainersResponse', {
  containers: repeated(1, container),
})

export const containerStatusRequest = protoMessage('runtime.v1.ContainerStatusRequest', {
  containerId: one(1, 'string'),
  verbose: one(2, 'bool'),
})

export const containerStatusResponse = protoMessage('runtime.v1.ContainerStatusResponse', {
  status: one(1, containerStatus),
  info: mapOf(2, 'string'),
})

export const reopenContainerLogRequest = protoMessage('runtime.v1.ReopenContainerLogRequest', {
  containerId: one(1, 'string'),
})

export const reopenContainerLogResponse = protoMessage('runtime.v1.ReopenContainerLogResponse', {})

export const containerAttributes = protoMessage('runtime.v1.ContainerAttributes', {
  id: one(1, 'string'),
  metadata: one(2, containerMetadata),
  labels: mapOf(3, 'string'),
  annotations: mapOf(4, 'string'),
})

export const getEventsRequest = protoMessage('runtime.v1.GetEventsRequest', {})

export const containerEventResponse = protoMessage('runtime.v1.ContainerEventResponse', {
  containerId: one(1, 'string'),
  containerEventType: one(2, containerEventType),
  createdAt: one(3, 'int64Big'),
  podSandboxStatus: one(4, podSandboxStatus),
  containersStatuses: repeated(5, containerStatus),
})
