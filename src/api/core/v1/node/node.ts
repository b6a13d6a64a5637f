// Node: a machine that runs pods.
import { proxySubresource } from '../../../kind/subresource.ts'
import { nodeProxyOptions } from '../connect-options.ts'
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, map, message, string, struct, time } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { ageText } from '../../../columns/age.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { validateNode, validateNodeUpdate } from './node-rules.ts'

export const taint = message('io.k8s.api.core.v1.Taint', {
  key: string(1, { required: true, description: 'The key of the taint.' }),
  value: string(2, { description: 'The value of the taint.' }),
  effect: string(3, {
    required: true,
    enum: ['NoExecute', 'NoSchedule', 'PreferNoSchedule'],
    description: 'NoSchedule, PreferNoSchedule or NoExecute, which also evicts pods.',
  }),
  timeAdded: time(4, { pointer: true, description: 'When the taint was added.' }),
})
export interface Taint extends Infer<typeof taint> {}

export const configMapNodeConfigSource = message('io.k8s.api.core.v1.ConfigMapNodeConfigSource', {
  namespace: string(1, { required: true, description: 'The namespace of the ConfigMap.' }),
  name: string(2, { required: true, description: 'The name of the ConfigMap.' }),
  uid: string(3, { description: 'The uid of the ConfigMap.' }),
  resourceVersion: string(4, { description: 'The version of the ConfigMap.' }),
  kubeletConfigKey: string(5, { required: true, description: 'The key with the configuration.' }),
})
export interface ConfigMapNodeConfigSource extends Infer<typeof configMapNodeConfigSource> {}

export const nodeConfigSource = message('io.k8s.api.core.v1.NodeConfigSource', {
  configMap: struct(2, configMapNodeConfigSource, {
    pointer: true,
    description: 'The ConfigMap of a dynamic kubelet configuration. It is no longer supported.',
  }),
})
export interface NodeConfigSource extends Infer<typeof nodeConfigSource> {}

export const nodeSpec = message('io.k8s.api.core.v1.NodeSpec', {
  podCIDR: string(1, { description: 'The range of pod IPs of this node.' }),
  externalID: string(2, { description: 'Deprecated and unused.' }),
  providerID: string(3, { description: 'The id of the machine at its cloud provider.' }),
  unschedulable: bool(4, { description: 'Whether the node is unschedulable for new pods.' }),
  taints: list(5, taint, { listType: 'atomic', description: 'Taints that repel pods without a matching toleration.' }),
  configSource: struct(6, nodeConfigSource, {
    pointer: true,
    description: 'Deprecated and unused.',
  }),
  podCIDRs: list(7, 'string', {
    listType: 'set',
    patch: 'merge',
    description: 'The ranges of pod IPs of each IP family; the first is podCIDR.',
  }),
})
export interface NodeSpec extends Infer<typeof nodeSpec> {}

export const nodeAddress = message('io.k8s.api.core.v1.NodeAddress', {
  type: string(1, { required: true, description: 'InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS.' }),
  address: string(2, { required: true, description: 'The address.' }),
})
export interface NodeAddress extends Infer<typeof nodeAddress> {}

export const nodeCondition = message('io.k8s.api.core.v1.NodeCondition', {
  type: string(1, { required: true, description: 'The name of the condition.' }),
  status: string(2, { required: true, description: 'True, False or Unknown.' }),
  lastHeartbeatTime: time(3, { description: 'When the kubelet reported the condition last.' }),
  lastTransitionTime: time(4, { description: 'When the status changed last.' }),
  reason: string(5, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
  message: string(6, { description: 'A sentence for people about the last transition.' }),
})
export interface NodeCondition extends Infer<typeof nodeCondition> {}

export const nodeConfigStatus = message('io.k8s.api.core.v1.NodeConfigStatus', {
  assigned: struct(1, nodeConfigSource, { pointer: true, description: 'The configuration that the node is to use.' }),
  active: struct(2, nodeConfigSource, { pointer: true, description: 'The configuration that the node uses.' }),
  lastKnownGood: struct(3, nodeConfigSource, {
    pointer: true,
    description: 'The configuration that the node returns to after an error.',
  }),
  error: string(4, { description: 'Why the assigned configuration is not used.' }),
})
export interface NodeConfigStatus extends Infer<typeof nodeConfigStatus> {}

export const daemonEndpoint = message('io.k8s.api.core.v1.DaemonEndpoint', {
  Port: int32(1, { required: true, description: 'The port.' }),
})
export interface DaemonEndpoint extends Infer<typeof daemonEndpoint> {}

export const nodeDaemonEndpoints = message('io.k8s.api.core.v1.NodeDaemonEndpoints', {
  kubeletEndpoint: struct(1, daemonEndpoint, { description: 'The endpoint of the kubelet.' }),
})
export interface NodeDaemonEndpoints extends Infer<typeof nodeDaemonEndpoints> {}

export const nodeFeatures = message('io.k8s.api.core.v1.NodeFeatures', {
  supplementalGroupsPolicy: bool(1, {
    pointer: true,
    description: 'Whether the runtime supports supplementalGroupsPolicy.',
  }),
})
export interface NodeFeatures extends Infer<typeof nodeFeatures> {}

export const containerImage = message('io.k8s.api.core.v1.ContainerImage', {
  names: list(1, 'string', { keepEmpty: true, listType: 'atomic', description: 'The names of the image.' }),
  sizeBytes: int64(2, { description: 'The size of the image in bytes.' }),
})
export interface ContainerImage extends Infer<typeof containerImage> {}

export const nodeSwapStatus = message('io.k8s.api.core.v1.NodeSwapStatus', {
  capacity: int64(1, { pointer: true, description: 'The size of the swap space in bytes.' }),
})
export interface NodeSwapStatus extends Infer<typeof nodeSwapStatus> {}

export const nodeSystemInfo = message('io.k8s.api.core.v1.NodeSystemInfo', {
  machineID: string(1, { required: true, description: 'The ID of the machine, from /etc/machine-id.' }),
  systemUUID: string(2, { required: true, description: 'The UUID of the machine, from its firmware.' }),
  bootID: string(3, { required: true, description: 'The ID of the present boot.' }),
  kernelVersion: string(4, { required: true, description: 'The version of the kernel.' }),
  osImage: string(5, { required: true, description: 'The name of the operating system.' }),
  containerRuntimeVersion: string(6, { required: true, description: 'The container runtime and its version.' }),
  kubeletVersion: string(7, { required: true, description: 'The version of the kubelet.' }),
  kubeProxyVersion: string(8, { required: true, description: 'No longer used.' }),
  operatingSystem: string(9, { required: true, description: 'linux or windows.' }),
  architecture: string(10, { required: true, description: 'The architecture of the processor, such as amd64.' }),
  swap: struct(11, nodeSwapStatus, { pointer: true, description: 'The swap space.' }),
})
export interface NodeSystemInfo extends Infer<typeof nodeSystemInfo> {}

export const nodeRuntimeHandlerFeatures = message('io.k8s.api.core.v1.NodeRuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: bool(1, { pointer: true, description: 'Whether recursive read-only mounts are supported.' }),
  userNamespaces: bool(2, { pointer: true, description: 'Whether user namespaces are supported.' }),
})
export interface NodeRuntimeHandlerFeatures extends Infer<typeof nodeRuntimeHandlerFeatures> {}

export const nodeRuntimeHandler = message('io.k8s.api.core.v1.NodeRuntimeHandler', {
  name: string(1, { keepEmpty: true, description: 'The name of the runtime handler; empty for the default one.' }),
  features: struct(2, nodeRuntimeHandlerFeatures, { pointer: true, description: 'What the handler supports.' }),
})
export interface NodeRuntimeHandler extends Infer<typeof nodeRuntimeHandler> {}

export const attachedVolume = message('io.k8s.api.core.v1.AttachedVolume', {
  name: string(1, { required: true, description: 'The name of the volume.' }),
  devicePath: string(2, { required: true, description: 'The path of its device on the node.' }),
})
export interface AttachedVolume extends Infer<typeof attachedVolume> {}

export const nodeStatus = message('io.k8s.api.core.v1.NodeStatus', {
  capacity: map(1, 'quantity', { description: 'All resources of the machine.' }),
  allocatable: map(2, 'quantity', { description: 'The resources that pods may use.' }),
  phase: string(3, {
    enum: ['Pending', 'Running', 'Terminated'],
    description: 'Deprecated and not set.',
  }),
  conditions: list(4, nodeCondition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether the node is ready and under resource pressure.',
  }),
  addresses: list(5, nodeAddress, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The addresses and names of the node.',
  }),
  daemonEndpoints: struct(6, nodeDaemonEndpoints, { description: "The ports of the node's daemons." }),
  nodeInfo: struct(7, nodeSystemInfo, { description: 'Versions and identifiers of the machine and its software.' }),
  images: list(8, containerImage, { listType: 'atomic', description: 'The container images on the node.' }),
  volumesInUse: list(9, 'string', {
    listType: 'atomic',
    description: 'Attached volumes that pods on the node still use.',
  }),
  volumesAttached: list(10, attachedVolume, {
    listType: 'atomic',
    description: 'Volumes that are attached to the node.',
  }),
  config: struct(11, nodeConfigStatus, {
    pointer: true,
    description: 'Deprecated and not set.',
  }),
  runtimeHandlers: list(12, nodeRuntimeHandler, {
    listType: 'atomic',
    description: 'The container runtimes that the node offers.',
  }),
  features: struct(13, nodeFeatures, { pointer: true, description: 'The features of the container runtime.' }),
  declaredFeatures: list(14, 'string', {
    listType: 'atomic',
    description: 'Features that the kubelet declares for scheduling.',
  }),
})
export interface NodeStatus extends Infer<typeof nodeStatus> {}

export const nodeMessage = message(
  'io.k8s.api.core.v1.Node',
  {
    metadata: objectMetaField,
    spec: struct(2, nodeSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, nodeStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'A machine that runs pods.',
)
export interface Node extends ObjectOf<typeof nodeMessage> {}
export type NodeInput = InputOf<typeof nodeMessage>

const rolePrefix = 'node-role.kubernetes.io/'

export const isNodeReady = ({ status }: Node): boolean =>
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false

function statusText(object: Node): string {
  const ready = object.status.conditions?.find(({ type }) => type === 'Ready')
  const health = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return object.spec.unschedulable ? `${health},SchedulingDisabled` : health
}

function rolesText({ metadata: { labels = {} } }: Node): string {
  const roles = Object.keys(labels)
    .filter((name) => name.startsWith(rolePrefix) && name.length > rolePrefix.length)
    .map((name) => name.slice(rolePrefix.length))
  return roles.length === 0 ? '<none>' : roles.toSorted().join(',')
}

const addressOf = (object: Node, type: string): string =>
  object.status.addresses?.find((address) => address.type === type)?.address ?? '<none>'

export const node = defineKind<Node, NodeInput>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  categories: [],
  namespaced: false,
  message: nodeMessage,
  subresources: [proxySubresource(nodeProxyOptions)],
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  // A kubelet registers its node together with the status.
  initialStatus: ({ status }) => status,
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  validateStatusUpdate: validateNodeUpdate,
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Status', statusText),
    column('Roles', rolesText),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Version', ({ status }) => status.nodeInfo?.kubeletVersion ?? ''),
    column('Internal-IP', (object) => addressOf(object, 'InternalIP'), { priority: 1 }),
    column('External-IP', (object) => addressOf(object, 'ExternalIP'), { priority: 1 }),
    column('OS-Image', ({ status }) => status.nodeInfo?.osImage || '<unknown>', { priority: 1 }),
    column('Kernel-Version', ({ status }) => status.nodeInfo?.kernelVersion || '<unknown>', { priority: 1 }),
    column('Container-Runtime', ({ status }) => status.nodeInfo?.containerRuntimeVersion || '<unknown>', {
      priority: 1,
    }),
  ],
  fieldLabels: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) },
})
