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
  ip: string(1, { required: true, description: 'The address.' }),
  hostnames: list(2, 'string', { listType: 'atomic', description: 'The names that lead to it, in /etc/hosts.' }),
})
export interface HostAlias extends Infer<typeof hostAlias> {}

export const podDnsConfigOption = message('io.k8s.api.core.v1.PodDNSConfigOption', {
  name: string(1, { description: 'The name of the option.' }),
  value: string(2, { pointer: true, description: 'Its value, if it has one.' }),
})
export interface PodDNSConfigOption extends Infer<typeof podDnsConfigOption> {}

export const podDnsConfig = message('io.k8s.api.core.v1.PodDNSConfig', {
  nameservers: list(1, 'string', {
    listType: 'atomic',
    description: 'Addresses of name servers, after those of the policy; at most 3 in all.',
  }),
  searches: list(2, 'string', {
    listType: 'atomic',
    description: 'Domains in which short names are looked up, after those of the policy; at most 32.',
  }),
  options: list(3, podDnsConfigOption, { listType: 'atomic', description: 'Options of the resolver, such as ndots.' }),
})
export interface PodDNSConfig extends Infer<typeof podDnsConfig> {}

export const podOs = message('io.k8s.api.core.v1.PodOS', {
  name: string(1, { required: true, description: 'linux or windows.' }),
})
export interface PodOS extends Infer<typeof podOs> {}

export const podReadinessGate = message('io.k8s.api.core.v1.PodReadinessGate', {
  conditionType: string(1, {
    required: true,
    description: 'A condition of the pod that must be True for the pod to be ready.',
  }),
})
export interface PodReadinessGate extends Infer<typeof podReadinessGate> {}

export const podResourceClaim = message('io.k8s.api.core.v1.PodResourceClaim', {
  name: string(1, { required: true, description: 'The name by which containers refer to the claim.' }),
  resourceClaimName: string(3, { pointer: true, description: 'The name of a ResourceClaim of the namespace.' }),
  resourceClaimTemplateName: string(4, {
    pointer: true,
    description: 'The name of a ResourceClaimTemplate, from which a claim is created for the pod.',
  }),
})
export interface PodResourceClaim extends Infer<typeof podResourceClaim> {}

export const podSchedulingGate = message('io.k8s.api.core.v1.PodSchedulingGate', {
  name: string(1, {
    required: true,
    description: 'The name of the gate. The pod is not scheduled as long as it has a gate.',
  }),
})
export interface PodSchedulingGate extends Infer<typeof podSchedulingGate> {}

export const podSchedulingGroup = message('io.k8s.api.core.v1.PodSchedulingGroup', {
  podGroupName: string(1, { pointer: true, description: 'The name of the PodGroup with which the pod is scheduled.' }),
})
export interface PodSchedulingGroup extends Infer<typeof podSchedulingGroup> {}

export const podSpec = message('io.k8s.api.core.v1.PodSpec', {
  volumes: list(1, volume, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    description: 'Volumes that containers can mount.',
  }),
  containers: list(2, container, {
    required: true,
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'The containers of the pod; at least one.',
  }),
  restartPolicy: string(3, {
    default: 'Always',
    enum: ['Always', 'OnFailure', 'Never'],
    description: 'Whether terminated containers are restarted: Always (the default), OnFailure or Never.',
  }),
  terminationGracePeriodSeconds: int64(4, {
    pointer: true,
    default: 30,
    description: 'How many seconds containers may take to terminate before they are killed; 30 by default.',
  }),
  activeDeadlineSeconds: int64(5, {
    fitsDouble: true,
    pointer: true,
    description: 'After how many seconds the pod is terminated as failed; never by default.',
  }),
  dnsPolicy: string(6, {
    default: 'ClusterFirst',
    enum: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
    description:
      'Whose DNS servers it uses: ClusterFirst (the default), ClusterFirstWithHostNet, Default (of the node) or None.',
  }),
  nodeSelector: map(7, 'string', { mapType: 'atomic', description: 'Labels that the node must have.' }),
  serviceAccountName: string(8, { description: 'The service account of the pod; the one called default by default.' }),
  serviceAccount: string(9, { description: 'The deprecated name of serviceAccountName, with the same default.' }),
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
    description: 'Secrets for pulling images.',
  }),
  hostname: string(16, { description: 'The host name of the pod.' }),
  subdomain: string(17, { description: 'The subdomain of the host name, within the namespace.' }),
  affinity: struct(18, affinity, {
    pointer: true,
    description: 'Affinity and anti-affinity to nodes and pods.',
  }),
  schedulerName: string(19, {
    default: 'default-scheduler',
    description: 'The name of the scheduler; default-scheduler by default.',
  }),
  initContainers: list(20, container, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description:
      'Containers that run one after another before the others start; those with restartPolicy Always are sidecars.',
  }),
  automountServiceAccountToken: bool(21, { pointer: true, description: 'Whether a token for the API is mounted.' }),
  tolerations: list(22, toleration, { listType: 'atomic', description: 'Taints of nodes that the pod tolerates.' }),
  hostAliases: list(23, hostAlias, {
    listType: 'map',
    keys: ['ip'],
    patch: 'merge',
    mergeKey: 'ip',
    description: 'Additional lines of the hosts file.',
  }),
  priorityClassName: string(24, { description: 'The PriorityClass of the pod.' }),
  priority: int32(25, { pointer: true, description: 'The priority of the pod, from its class; 0 by default.' }),
  dnsConfig: struct(26, podDnsConfig, {
    pointer: true,
    description: 'Name servers and options in addition to those of dnsPolicy.',
  }),
  shareProcessNamespace: bool(27, { pointer: true, description: 'Whether containers share a process namespace.' }),
  readinessGates: list(28, podReadinessGate, {
    listType: 'atomic',
    description: 'Additional conditions that must be true before the pod is ready.',
  }),
  runtimeClassName: string(29, { pointer: true, description: 'The RuntimeClass that runs the containers.' }),
  enableServiceLinks: bool(30, {
    pointer: true,
    description: 'Whether environment variables for Services of the namespace are set; true by default.',
  }),
  preemptionPolicy: string(31, {
    pointer: true,
    enum: ['PreemptLowerPriority', 'Never'],
    description: 'Whether pods of lower priority may be preempted: PreemptLowerPriority (the default) or Never.',
  }),
  overhead: map(32, 'quantity', {
    description: 'The resources of the container runtime, in addition to the containers.',
  }),
  topologySpreadConstraints: list(33, topologySpreadConstraint, {
    listType: 'map',
    keys: ['topologyKey', 'whenUnsatisfiable'],
    patch: 'merge',
    mergeKey: 'topologyKey',
    description: 'How evenly pods are spread over zones, nodes or other topology domains.',
  }),
  ephemeralContainers: list(34, ephemeralContainer, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'Containers that were added to a running pod for debugging.',
  }),
  setHostnameAsFQDN: bool(35, { pointer: true, description: 'Whether the host name is the fully qualified name.' }),
  os: struct(36, podOs, { pointer: true, description: 'The operating system of the containers.' }),
  hostUsers: bool(37, { pointer: true, description: 'Whether the pod uses the user namespace of the host.' }),
  schedulingGates: list(38, podSchedulingGate, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
    description: 'The pod is not scheduled until this list is empty.',
  }),
  resourceClaims: list(39, podResourceClaim, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
    description: 'Devices that are claimed for the pod.',
  }),
  resources: struct(40, resourceRequirements, { pointer: true, description: 'Resources for all containers together.' }),
  hostnameOverride: string(41, {
    pointer: true,
    description: "A host name that replaces the one from the pod's name.",
  }),
  schedulingGroup: struct(43, podSchedulingGroup, {
    pointer: true,
    description: 'The group of pods that are scheduled together with this one.',
  }),
})
export interface PodSpec extends Infer<typeof podSpec> {}
