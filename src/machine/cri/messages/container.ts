// CRI messages of containers.
import { enumeration, mapOf, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'
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
  name: singular(1, 'string'),
  attempt: singular(2, 'uint32'),
})

export const mount = protoMessage('runtime.v1.Mount', {
  containerPath: singular(1, 'string'),
  hostPath: singular(2, 'string'),
  readonly: singular(3, 'bool'),
  selinuxRelabel: singular(4, 'bool'),
  propagation: singular(5, mountPropagation),
  recursiveReadOnly: singular(8, 'bool'),
  image: singular(9, imageSpec),
  imageSubPath: singular(10, 'string'),
})

const linuxContainerUser = protoMessage('runtime.v1.LinuxContainerUser', {
  uid: singular(1, 'int64'),
  gid: singular(2, 'int64'),
  supplementalGroups: repeated(3, 'int64'),
})

const containerUser = protoMessage('runtime.v1.ContainerUser', { linux: singular(1, linuxContainerUser) })

export const containerStatus = protoMessage('runtime.v1.ContainerStatus', {
  id: singular(1, 'string'),
  metadata: singular(2, containerMetadata),
  state: singular(3, containerState),
  createdAt: singular(4, 'int64Big'),
  startedAt: singular(5, 'int64Big'),
  finishedAt: singular(6, 'int64Big'),
  exitCode: singular(7, 'int32'),
  image: singular(8, imageSpec),
  imageRef: singular(9, 'string'),
  reason: singular(10, 'string'),
  message: singular(11, 'string'),
  labels: mapOf(12, 'string'),
  annotations: mapOf(13, 'string'),
  mounts: repeated(14, mount),
  logPath: singular(15, 'string'),
  resources: singular(16, containerResources),
  imageId: singular(17, 'string'),
  user: singular(18, containerUser),
  stopSignal: singular(19, signal),
})

export const keyValue = protoMessage('runtime.v1.KeyValue', {
  key: singular(1, 'string'),
  value: singular(2, 'bytes'),
})

export const device = protoMessage('runtime.v1.Device', {
  containerPath: singular(1, 'string'),
  hostPath: singular(2, 'string'),
  permissions: singular(3, 'string'),
})

export const linuxContainerConfig = protoMessage('runtime.v1.LinuxContainerConfig', {
  resources: singular(1, linuxContainerResources),
  securityContext: singular(2, linuxContainerSecurityContext),
})

export const containerConfig = protoMessage('runtime.v1.ContainerConfig', {
  metadata: singular(1, containerMetadata),
  image: singular(2, imageSpec),
  command: repeated(3, 'string'),
  args: repeated(4, 'string'),
  workingDir: singular(5, 'string'),
  envs: repeated(6, keyValue),
  mounts: repeated(7, mount),
  devices: repeated(8, device),
  labels: mapOf(9, 'string'),
  annotations: mapOf(10, 'string'),
  logPath: singular(11, 'string'),
  stdin: singular(12, 'bool'),
  stdinOnce: singular(13, 'bool'),
  tty: singular(14, 'bool'),
  linux: singular(15, linuxContainerConfig),
  stopSignal: singular(18, signal),
})

export const createContainerRequest = protoMessage('runtime.v1.CreateContainerRequest', {
  podSandboxId: singular(1, 'string'),
  config: singular(2, containerConfig),
  sandboxConfig: singular(3, podSandboxConfig),
})

export const createContainerResponse = protoMessage('runtime.v1.CreateContainerResponse', {
  containerId: singular(1, 'string'),
})

export const startContainerRequest = protoMessage('runtime.v1.StartContainerRequest', {
  containerId: singular(1, 'string'),
})

export const startContainerResponse = protoMessage('runtime.v1.StartContainerResponse', {})

export const stopContainerRequest = protoMessage('runtime.v1.StopContainerRequest', {
  containerId: singular(1, 'string'),
  timeout: singular(2, 'int64'),
})

export const stopContainerResponse = protoMessage('runtime.v1.StopContainerResponse', {})

export const removeContainerRequest = protoMessage('runtime.v1.RemoveContainerRequest', {
  containerId: singular(1, 'string'),
})

export const removeContainerResponse = protoMessage('runtime.v1.RemoveContainerResponse', {})

export const containerStateValue = protoMessage('runtime.v1.ContainerStateValue', {
  state: singular(1, containerState),
})

export const containerFilter = protoMessage('runtime.v1.ContainerFilter', {
  id: singular(1, 'string'),
  state: singular(2, containerStateValue),
  podSandboxId: singular(3, 'string'),
  labelSelector: mapOf(4, 'string'),
})

export const listContainersRequest = protoMessage('runtime.v1.ListContainersRequest', {
  filter: singular(1, containerFilter),
})

export const container = protoMessage('runtime.v1.Container', {
  id: singular(1, 'string'),
  podSandboxId: singular(2, 'string'),
  metadata: singular(3, containerMetadata),
  image: singular(4, imageSpec),
  imageRef: singular(5, 'string'),
  state: singular(6, containerState),
  createdAt: singular(7, 'int64Big'),
  labels: mapOf(8, 'string'),
  annotations: mapOf(9, 'string'),
  imageId: singular(10, 'string'),
})

export const listContainersResponse = protoMessage('runtime.v1.ListContainersResponse', {
  containers: repeated(1, container),
})

export const containerStatusRequest = protoMessage('runtime.v1.ContainerStatusRequest', {
  containerId: singular(1, 'string'),
  verbose: singular(2, 'bool'),
})

export const containerStatusResponse = protoMessage('runtime.v1.ContainerStatusResponse', {
  status: singular(1, containerStatus),
  info: mapOf(2, 'string'),
})

export const reopenContainerLogRequest = protoMessage('runtime.v1.ReopenContainerLogRequest', {
  containerId: singular(1, 'string'),
})

export const reopenContainerLogResponse = protoMessage('runtime.v1.ReopenContainerLogResponse', {})

export const containerAttributes = protoMessage('runtime.v1.ContainerAttributes', {
  id: singular(1, 'string'),
  metadata: singular(2, containerMetadata),
  labels: mapOf(3, 'string'),
  annotations: mapOf(4, 'string'),
})

export const getEventsRequest = protoMessage('runtime.v1.GetEventsRequest', {})

export const containerEventResponse = protoMessage('runtime.v1.ContainerEventResponse', {
  containerId: singular(1, 'string'),
  containerEventType: singular(2, containerEventType),
  createdAt: singular(3, 'int64Big'),
  podSandboxStatus: singular(4, podSandboxStatus),
  containersStatuses: repeated(5, containerStatus),
})
