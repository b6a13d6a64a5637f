// ServiceSpec and ServiceStatus.
import type { Infer } from '../../../schema/infer.ts'
import { bool, int32, intOrString, list, map, message, string, struct } from '../../../schema/field.ts'
import { condition } from '../../meta/v1/condition.ts'

export const servicePort = message('io.k8s.api.core.v1.ServicePort', {
  name: string(1),
  protocol: string(2, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  port: int32(3, { required: true }),
  targetPort: intOrString(4),
  nodePort: int32(5),
  appProtocol: string(6, { pointer: true }),
})
export interface ServicePort extends Infer<typeof servicePort> {}

export const clientIpConfig = message('io.k8s.api.core.v1.ClientIPConfig', {
  timeoutSeconds: int32(1, { pointer: true }),
})
export interface ClientIPConfig extends Infer<typeof clientIpConfig> {}

export const sessionAffinityConfig = message('io.k8s.api.core.v1.SessionAffinityConfig', {
  clientIP: struct(1, clientIpConfig, { pointer: true }),
})
export interface SessionAffinityConfig extends Infer<typeof sessionAffinityConfig> {}

export const serviceSpec = message('io.k8s.api.core.v1.ServiceSpec', {
  ports: list(1, servicePort, { listType: 'map', keys: ['port', 'protocol'], patch: 'merge', mergeKey: 'port' }),
  selector: map(2, 'string', { mapType: 'atomic' }),
  clusterIP: string(3),
  type: string(4, { default: 'ClusterIP', enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] }),
  externalIPs: list(5, 'string', { listType: 'atomic' }),
  sessionAffinity: string(7, { default: 'None', enum: ['ClientIP', 'None'] }),
  loadBalancerIP: string(8),
  loadBalancerSourceRanges: list(9, 'string', { listType: 'atomic' }),
  externalName: string(10),
  externalTrafficPolicy: string(11, { enum: ['Cluster', 'Local'] }),
  healthCheckNodePort: int32(12),
  publishNotReadyAddresses: bool(13),
  sessionAffinityConfig: struct(14, sessionAffinityConfig, { pointer: true }),
  ipFamilyPolicy: string(17, { pointer: true, enum: ['PreferDualStack', 'RequireDualStack', 'SingleStack'] }),
  clusterIPs: list(18, 'string', { listType: 'atomic' }),
  ipFamilies: list(19, 'string', { listType: 'atomic', enum: ['', 'IPv4', 'IPv6'], enumUnchecked: true }),
  allocateLoadBalancerNodePorts: bool(20, { pointer: true }),
  loadBalancerClass: string(21, { pointer: true }),
  internalTrafficPolicy: string(22, { pointer: true, enum: ['Cluster', 'Local'] }),
  trafficDistribution: string(23, { pointer: true }),
})
export interface ServiceSpec extends Infer<typeof serviceSpec> {}

export const portStatus = message('io.k8s.api.core.v1.PortStatus', {
  port: int32(1, { required: true }),
  protocol: string(2, { required: true, enum: ['SCTP', 'TCP', 'UDP'] }),
  error: string(3, { pointer: true }),
})
export interface PortStatus extends Infer<typeof portStatus> {}

export const loadBalancerIngress = message('io.k8s.api.core.v1.LoadBalancerIngress', {
  ip: string(1),
  hostname: string(2),
  ipMode: string(3, { pointer: true }),
  ports: list(4, portStatus, { listType: 'atomic' }),
})
export interface LoadBalancerIngress extends Infer<typeof loadBalancerIngress> {}

export const loadBalancerStatus = message('io.k8s.api.core.v1.LoadBalancerStatus', {
  ingress: list(1, loadBalancerIngress, { listType: 'atomic' }),
})
export interface LoadBalancerStatus extends Infer<typeof loadBalancerStatus> {}

export const serviceStatus = message('io.k8s.api.core.v1.ServiceStatus', {
  loadBalancer: struct(1, loadBalancerStatus),
  conditions: list(2, condition, { listType: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' }),
})
export interface ServiceStatus extends Infer<typeof serviceStatus> {}
