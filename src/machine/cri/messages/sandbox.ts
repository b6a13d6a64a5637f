// Sandboxes: the frame of a pod, with its network.
import { enumeration, mapOf, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'
import { linuxContainerResources } from './resources.ts'
import { linuxSandboxSecurityContext, namespace } from './security.ts'

const protocol = enumeration('TCP', 'UDP', 'SCTP')
const podSandboxState = enumeration('SANDBOX_READY', 'SANDBOX_NOTREADY')

export const podSandboxMetadata = protoMessage('runtime.v1.PodSandboxMetadata', {
  name: one(1, 'string'),
  uid: one(2, 'string'),
  namespace: one(3, 'string'),
  attempt: one(4, 'uint32'),
})

export const dnsConfig = protoMessage('runtime.v1.DNSConfig', {
  servers: repeated(1, 'string'),
  searches: repeated(2, 'string'),
  options: repeated(3, 'string'),
})

export const portMapping = protoMessage('runtime.v1.PortMapping', {
  protocol: one(1, protocol),
  containerPort: one(2, 'int32'),
  hostPort: one(3, 'int32'),
  hostIp: one(4, 'string'),
})

export const linuxPodSandboxConfig = protoMessage('runtime.v1.LinuxPodSandboxConfig', {
  cgroupParent: one(1, 'string'),
  securityContext: one(2, linuxSandboxSecurityContext),
  sysctls: mapOf(3, 'string'),
  overhead: one(4, linuxContainerResources),
  resources: one(5, linuxContainerResources),
})

export const podSandboxConfig = protoMessage('runtime.v1.PodSandboxConfig', {
  metadata: one(1, podSandboxMetadata),
  hostname: one(2, 'string'),
  logDirectory: one(3, 'string'),
  dnsConfig: one(4, dnsConfig),
  portMappings: repeated(5, portMapping),
  labels: mapOf(6, 'string'),
  annotations: mapOf(7, 'string'),
  linux: one(8, linuxPodSandboxConfig),
})

export const runPodSandboxRequest = protoMessage('runtime.v1.RunPodSandboxRequest', {
  config: one(1, podSandboxConfig),
  runtimeHandler: one(2, 'string'),
})

export const runPodSandboxResponse = protoMessage('runtime.v1.RunPodSandboxResponse', {
  podSandboxId: one(1, 'string'),
})

export const stopPodSandboxRequest = protoMessage('runtime.v1.StopPodSandboxRequest', {
  podSandboxId: one(1, 'string'),
})

export const stopPodSandboxResponse = protoMessage('runtime.v1.StopPodSandboxResponse', {})

export const removePodSandboxRequest = protoMessage('runtime.v1.RemovePodSandboxRequest', {
  podSandboxId: one(1, 'string'),
})

export const removePodSandboxResponse = protoMessage('runtime.v1.RemovePodSandboxResponse', {})

export const podSandboxStatusRequest = protoMessage('runtime.v1.PodSandboxStatusRequest', {
  podSandboxId: one(1, 'string'),
  verbose: one(2, 'bool'),
})

export const podIP = protoMessage('runtime.v1.PodIP', {
  ip: one(1, 'string'),
})

export const podSandboxNetworkStatus = protoMessage('runtime.v1.PodSandboxNetworkStatus', {
  ip: one(1, 'string'),
  additionalIps: repeated(2, podIP),
})

export const linuxPodSandboxStatus = protoMessage('runtime.v1.LinuxPodSandboxStatus', {
  namespaces: one(1, namespace),
})

export const podSandboxStatus = protoMessage('runtime.v1.PodSandboxStatus', {
  id: one(1, 'string'),
  metadata: one(2, podSandboxMetadata),
  state: one(3, podSandboxState),
  createdAt: one(4, 'int64Big'),
  network: one(5, podSandboxNetworkStatus),
  linux: one(6, linuxPodSandboxStatus),
  labels: mapOf(7, 'string'),
  annotations: mapOf(8, 'string'),
  runtimeHandler: one(9, 'string'),
})

export const podSandboxStatusResponse = protoMessage('runtime.v1.PodSandboxStatusResponse', {
  status: one(1, podSandboxStatus),
  info: mapOf(2, 'string'),
  timestamp: one(4, 'int64Big'),
})

export const podSandboxStateValue = protoMessage('runtime.v1.PodSandboxStateValue', {
  state: one(1, podSandboxState),
})

export const podSandboxFilter = protoMessage('runtime.v1.PodSandboxFilter', {
  id: one(1, 'string'),
  state: one(2, podSandboxStateValue),
  labelSelector: mapOf(3, 'string'),
})

export const listPodSandboxRequest = protoMessage('runtime.v1.ListPodSandboxRequest', {
  filter: one(1, podSandboxFilter),
})

export const podSandbox = protoMessage('runtime.v1.PodSandbox', {
  id: one(1, 'string'),
  metadata: one(2, podSandboxMetadata),
  state: one(3, podSandboxState),
  createdAt: one(4, 'int64Big'),
  labels: mapOf(5, 'string'),
  annotations: mapOf(6, 'string'),
  runtimeHandler: one(7, 'string'),
})

export const listPodSandboxResponse = protoMessage('runtime.v1.ListPodSandboxResponse', {
  items: repeated(1, podSandbox),
})
