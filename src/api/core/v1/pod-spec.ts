// PodSpec: what a pod is to be.
import type { Infer } from '../../../schema/infer.ts'
import { bool, int32, int64, list, map, message, string, struct } from '../../../schema/field.ts'
import { affinity, toleration, topologySpreadConstraint } from './affinity.ts'
import { container, ephemeralContainer } from './container.ts'
import { localObjectReference } from './references.ts'
import { resourceRequirements } from './resources.ts'
import { podSecurityContext } from './security-context.ts'
import { volume } from './volume.ts'

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
  volumes: list(1, volume, { listType: 'map', keys: ['name'], patch: 'merge,retainKeys', mergeKey: 'name' }),
  containers: list(2, container, {
    required: true,
    notEmpty: true,
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
  }),
  restartPolicy: string(3, { default: 'Always', enum: ['Always', 'OnFailure', 'Never'] }),
  terminationGracePeriodSeconds: int64(4, { pointer: true, default: 30 }),
  activeDeadlineSeconds: int64(5, { pointer: true }),
  dnsPolicy: string(6, {
    default: 'ClusterFirst',
    enum: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  }),
  nodeSelector: map(7, 'string', { mapType: 'atomic' }),
  serviceAccountName: string(8),
  serviceAccount: string(9),
  nodeName: string(10),
  hostNetwork: bool(11),
  hostPID: bool(12),
  hostIPC: bool(13),
  securityContext: struct(14, podSecurityContext, { pointer: true, default: {} }),
  imagePullSecrets: list(15, localObjectReference, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
  }),
  hostname: string(16),
  subdomain: string(17),
  affinity: struct(18, affinity, { pointer: true }),
  schedulerName: string(19, { default: 'default-scheduler' }),
  initContainers: list(20, container, { listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
  automountServiceAccountToken: bool(21, { pointer: true }),
  tolerations: list(22, toleration, { listType: 'atomic' }),
  hostAliases: list(23, hostAlias, { listType: 'map', keys: ['ip'], patch: 'merge', mergeKey: 'ip' }),
  priorityClassName: string(24),
  priority: int32(25, { pointer: true }),
  dnsConfig: struct(26, podDnsConfig, { pointer: true }),
  shareProcessNamespace: bool(27, { pointer: true }),
  readinessGates: list(28, podReadinessGate, { listType: 'atomic' }),
  runtimeClassName: string(29, { pointer: true }),
  enableServiceLinks: bool(30, { pointer: true }),
  preemptionPolicy: string(31, { pointer: true, enum: ['PreemptLowerPriority', 'Never'] }),
  overhead: map(32, 'quantity'),
  topologySpreadConstraints: list(33, topologySpreadConstraint, {
    listType: 'map',
    keys: ['topologyKey', 'whenUnsatisfiable'],
    patch: 'merge',
    mergeKey: 'topologyKey',
  }),
  ephemeralContainers: list(34, ephemeralContainer, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge',
    mergeKey: 'name',
  }),
  setHostnameAsFQDN: bool(35, { pointer: true }),
  os: struct(36, podOs, { pointer: true }),
  hostUsers: bool(37, { pointer: true }),
  schedulingGates: list(38, podSchedulingGate, { listType: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' }),
  resourceClaims: list(39, podResourceClaim, {
    listType: 'map',
    keys: ['name'],
    patch: 'merge,retainKeys',
    mergeKey: 'name',
  }),
  resources: struct(40, resourceRequirements, { pointer: true }),
  hostnameOverride: string(41, { pointer: true }),
  schedulingGroup: struct(43, podSchedulingGroup, { pointer: true }),
})
export interface PodSpec extends Infer<typeof podSpec> {}
