// PodSpec: the desired state of a pod.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { affinity, toleration, topologySpreadConstraint } from '../scheduling/affinity.ts'
import { container, ephemeralContainer } from '../container/container.ts'
import { localObjectReference } from '../references.ts'
import { resourceRequirements } from '../resources/resource-requirements.ts'
import { podSecurityContext } from '../container/security-context.ts'
import { volume } from '../volume/volume.ts'

export const hostAlias = message('io.k8s.api.core.v1.HostAlias', {
  ip: string(1, { required: true }),
  hostnames: list(2, 'string', { listType: 'atomic' }),
})
export interface HostAlias extends Infer<typeof hostAlias> {}

export const podDnsConfigOption = message('io.k8s.api.core.v1.PodDNSConfigOption', {
  name: string(1),
  value: string(2, { pointer: true }),
})
export interface PodDNSConfigOption extends Infer<typeof podDnsConfigOption> {}

export const podDnsConfig = message('io.k8s.api.core.v1.PodDNSConfig', {
  nameservers: list(1, 'string', { listType: 'atomic' }),
  searches: list(2, 'string', { listType: 'atomic' }),
  options: list(3, podDnsConfigOption, { listType: 'atomic' }),
})
export interface PodDNSConfig extends Infer<typeof podDnsConfig> {}

export const podOs = message('io.k8s.api.core.v1.PodOS', {
  name: string(1, { required: true }),
})
export interface PodOS extends Infer<typeof podOs> {}

export const podReadinessGate = message('io.k8s.api.core.v1.PodReadinessGate', {
  conditionType: string(1, { required: true }),
})
export interface PodReadinessGate extends Infer<typeof podReadinessGate> {}

export const podResourceClaim = message('io.k8s.api.core.v1.PodResourceClaim', {
  name: string(1, { required: true }),
  resourceClaimName: string(3, { pointer: true }),
  resourceClaimTemplateName: string(4, { pointer: true }),
})
export interface PodResourceClaim extends Infer<typeof podResourceClaim> {}

export const podSchedulingGate = message('io.k8s.api.core.v1.PodSchedulingGate', {
  name: string(1, { required: true }),
})
export interface PodSchedulingGate extends Infer<typeof podSchedulingGate> {}

export const podSchedulingGroup = message('io.k8s.api.core.v1.PodSchedulingGroup', {
  podGroupName: string(1, { pointer: true }),
})
export interface PodSchedulingGroup extends Infer<typeof podSchedulingGroup> {}

export const podSpec = message('io.k8s.api.core.v1.PodSpec', {
  volumes: list(1, volume, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    description: 'Directories and disks that containers can mount.',
  }),
  containers: list(2, container, {
    required: true,
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'What runs in the pod; at least one.',
  }),
  restartPolicy: string(3, {
    default: 'Always',
    enum: ['Always', 'OnFailure', 'Never'],
    description: 'Whether containers that end are started again: Always, OnFailure or Never.',
  }),
  terminationGracePeriodSeconds: int64(4, {
    pointer: true,
    default: 30,
    description: 'How long containers may take to end before they are killed.',
  }),
  activeDeadlineSeconds: int64(5, {
    pointer: true,
    description: 'How long the pod may run before it is ended as failed.',
  }),
  dnsPolicy: string(6, {
    default: 'ClusterFirst',
    enum: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
    description: 'Where names are looked up.',
  }),
  nodeSelector: map(7, 'string', { mapType: 'atomic', description: 'Labels that the node must have.' }),
  serviceAccountName: string(8, { description: 'The account in whose name the pod speaks to the API.' }),
  serviceAccount: string(9, { description: 'The old name of serviceAccountName.' }),
  nodeName: string(10, { description: 'The node that runs the pod; set by the scheduler.' }),
  hostNetwork: bool(11, { description: 'Uses the network of the node.' }),
  hostPID: bool(12, { description: 'Sees the processes of the node.' }),
  hostIPC: bool(13, { description: 'Shares inter-process communication with the node.' }),
  securityContext: struct(14, podSecurityContext, {
    pointer: true,
    default: {},
    description: 'Users, groups and security settings for all containers.',
  }),
  imagePullSecrets: list(15, localObjectReference, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Secrets with which images are fetched.',
  }),
  hostname: string(16, { description: 'The name that the pod has for itself.' }),
  subdomain: string(17, { description: 'The domain behind the hostname, within the namespace.' }),
  affinity: struct(18, affinity, {
    pointer: true,
    description: 'Which nodes, and which other pods, the pod wants to be near or far from.',
  }),
  schedulerName: string(19, { default: 'default-scheduler', description: 'Which scheduler finds a node.' }),
  initContainers: list(20, container, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Run one after another before the others start; those that always restart run beside them.',
  }),
  automountServiceAccountToken: bool(21, { pointer: true, description: 'Whether a token for the API is mounted.' }),
  tolerations: list(22, toleration, { listType: 'atomic', description: 'Taints of nodes that the pod puts up with.' }),
  hostAliases: list(23, hostAlias, {
    listType: 'map',
    keys: ['ip'],
    patch: 'merge',
    mergeKey: 'ip',
    description: 'Further lines for the hosts file.',
  }),
  priorityClassName: string(24, { description: 'The class that says how important the pod is.' }),
  priority: int32(25, { pointer: true, description: 'How important the pod is, as a number; follows from its class.' }),
  dnsConfig: struct(26, podDnsConfig, {
    pointer: true,
    description: 'Name servers and options in addition to those of dnsPolicy.',
  }),
  shareProcessNamespace: bool(27, { pointer: true, description: 'Containers see the processes of one another.' }),
  readinessGates: list(28, podReadinessGate, {
    listType: 'atomic',
    description: 'Further conditions that must be true before the pod counts as ready.',
  }),
  runtimeClassName: string(29, { pointer: true, description: 'The RuntimeClass that runs the containers.' }),
  enableServiceLinks: bool(30, {
    pointer: true,
    description: 'Whether Services of the namespace appear as environment variables.',
  }),
  preemptionPolicy: string(31, {
    pointer: true,
    enum: ['PreemptLowerPriority', 'Never'],
    description: 'Whether pods of lower priority may be evicted to make room.',
  }),
  overhead: map(32, 'quantity', { description: 'What the runtime itself takes, in addition to the containers.' }),
  topologySpreadConstraints: list(33, topologySpreadConstraint, {
    listType: 'map',
    keys: ['topologyKey', 'whenUnsatisfiable'],
    patch: 'merge',
    mergeKey: 'topologyKey',
    description: 'How evenly pods are spread over zones, nodes or other areas.',
  }),
  ephemeralContainers: list(34, ephemeralContainer, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Containers added to a running pod to look into it.',
  }),
  setHostnameAsFQDN: bool(35, { pointer: true, description: 'The hostname is the full name with its domain.' }),
  os: struct(36, podOs, { pointer: true, description: 'The operating system that the containers are made for.' }),
  hostUsers: bool(37, { pointer: true, description: 'Whether users in the pod are users of the node.' }),
  schedulingGates: list(38, podSchedulingGate, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'The pod is not scheduled before this list is empty.',
  }),
  resourceClaims: list(39, podResourceClaim, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    description: 'Devices that are claimed for the pod.',
  }),
  resources: struct(40, resourceRequirements, { pointer: true, description: 'Resources for all containers together.' }),
  hostnameOverride: string(41, { pointer: true, description: "A hostname that need not follow from the pod's name." }),
  schedulingGroup: struct(43, podSchedulingGroup, {
    pointer: true,
    description: 'The group of pods that are scheduled together with this one.',
  }),
})
export interface PodSpec extends Infer<typeof podSpec> {}
