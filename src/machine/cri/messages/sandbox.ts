// CRI messages of pod sandboxes.
import { enumeration, mapOf, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'
import { linuxContainerResources } from './resources.ts'
import { linuxSandboxSecurityContext, namespace } from './security.ts'

const protocol = enumeration('TCP', 'UDP', 'SCTP')
const podSandboxState = enumeration('SANDBOX_READY', 'SANDBOX_NOTREADY')

export const podSandboxMetadata = protoMessage('runtime.v1.PodSandboxMetadata', {
  name: singular(1, 'string'),
  uid: singular(2, 'string'),
  namespace: singular(3, 'string'),
  attempt: singular(4, 'uint32'),
})

export const dnsConfig = protoMessage('runtime.v1.DNSConfig', {
  servers: repeated(1, 'string'),
  searches: repeated(2, 'string'),
  options: repeated(3, 'string'),
})

export const portMapping = protoMessage('runtime.v1.PortMapping', {
  protocol: singular(1, protocol),
  containerPort: singular(2, 'int32'),
  hostPort: singular(3, 'int32'),
  hostIp: singular(4, 'string'),
})

export const linuxPodSandboxConfig = protoMessage('runtime.v1.LinuxPodSandboxConfig', {
  cgroupParent: singular(1, 'string'),
  securityContext: singular(2, linuxSandboxSecurityContext),
  sysctls: mapOf(3, 'string'),
  overhead: singular(4, linuxContainerResources),
  resources: singular(5, linuxContainerResources),
})

export const podSandboxConfig = protoMessage('runtime.v1.PodSandboxConfig', {
  metadata: singular(1, podSandboxMetadata),
  hostname: singular(2, 'string'),
  logDirectory: singular(3, 'string'),
  dnsConfig: singular(4, dnsConfig),
  portMappings: repeated(5, portMapping),
  labels: mapOf(6, 'string'),
  annotations: mapOf(7, 'string'),
  linux: singular(8, linuxPodSandboxConfig),
})

export const runPodSandboxRequest = protoMessage('runtime.v1.RunPodSandboxRequest', {
  config: singular(1, podSandboxConfig),
  runtimeHandler: singular(2, 'string'),
})

export const runPodSandboxResponse = protoMessage('runtime.v1.RunPodSandboxResponse', {
  podSandboxId: singular(1, 'string'),
})

export const stopPodSandboxRequest = protoMessage('runtime.v1.StopPodSandboxRequest', {
  podSandboxId: singular(1, 'string'),
})

export const stopPodSandboxResponse = protoMessage('runtime.v1.StopPodSandboxResponse', {})

export const removePodSandboxRequest = protoMessage('runtime.v1.RemovePodSandboxRequest', {
  podSandboxId: singular(1, 'string'),
})

export const removePodSandboxResponse = protoMessage('runtime.v1.RemovePodSandboxResponse', {})

export const podSandboxStatusRequest = protoMessage('runtime.v1.PodSandboxStatusRequest', {
  podSandboxId: singular(1, 'string'),
  verbose: singular(2, 'bool'),
})

export const podIP = protoMessage('runtime.v1.PodIP', {
  ip: singular(1, 'string'),
})

export const podSandboxNetworkStatus = protoMessage('runtime.v1.PodSandboxNetworkStatus', {
  ip: singular(1, 'string'),
  additionalIps: repeated(2, podIP),
})

export const linuxPodSandboxStatus = protoMessage('runtime.v1.LinuxPodSandboxStatus', {
  namespaces: singular(1, namespace),
})

export const podSandboxStatus = protoMessage('runtime.v1.PodSandboxStatus', {
  id: singular(1, 'string'),
  metadata: singular(2, podSandboxMetadata),
  state: singular(3, podSandboxState),
  createdAt: singular(4, 'int64Big'),
  network: singular(5, podSandboxNetworkStatus),
  linux: singular(6, linuxPodSandboxStatus),
  labels: mapOf(7, 'string'),
  annotations: mapOf(8, 'string'),
  runtimeHandler: singular(9, 'string'),
})

export const podSandboxStatusResponse = protoMessage('runtime.v1.PodSandboxStatusResponse', {
  status: singular(1, podSandboxStatus),
  info: mapOf(2, 'string'),
  timestamp: singular(4, 'int64Big'),
})

export const podSandboxStateValue = protoMessage('runtime.v1.PodSandboxStateValue', {
  state: singular(1, podSandboxState),
})

export const podSandboxFilter = protoMessage('runtime.v1.PodSandboxFilter', {
  id: singular(1, 'string'),
  state: singular(2, podSandboxStateValue),
  labelSelector: mapOf(3, 'string'),
})

export const listPodSandboxRequest = protoMessage('runtime.v1.ListPodSandboxRequest', {
  filter: singular(1, podSandboxFilter),
})

export const podSandbox = protoMessage('runtime.v1.PodSandbox', {
  id: singular(1, 'string'),
  metadata: singular(2, podSandboxMetadata),
  state: singular(3, podSandboxState),
  createdAt: singular(4, 'int64Big'),
  labels: mapOf(5, 'string'),
  annotations: mapOf(6, 'string'),
  runtimeHandler: singular(7, 'string'),
})

export const listPodSandboxResponse = protoMessage('runtime.v1.ListPodSandboxResponse', {
  items: repeated(1, podSandbox),
})
