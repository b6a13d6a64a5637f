// ServiceSpec and ServiceStatus.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, intOrString, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { condition } from '../../../meta/v1/condition.ts'

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
  ports: list(1, servicePort, {
    listType: 'map',
    keys: ['port', 'protocol'],
    patch: 'merge',
    mergeKey: 'port',
    description: 'The ports that it offers.',
  }),
  selector: map(2, 'string', { mapType: 'atomic', description: 'Which pods are behind it, by label.' }),
  clusterIP: string(3, { description: 'Its address within the cluster; None for a Service without one.' }),
  type: string(4, {
    default: 'ClusterIP',
    enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
    description: 'How it is reached: ClusterIP, NodePort, LoadBalancer or ExternalName.',
  }),
  externalIPs: list(5, 'string', {
    listType: 'atomic',
    description: 'Further addresses for which nodes accept its traffic.',
  }),
  sessionAffinity: string(7, {
    default: 'None',
    enum: ['ClientIP', 'None'],
    description: 'Whether a client stays with one pod.',
  }),
  loadBalancerIP: string(8, {
    description: 'The address that the load balancer should have; each provider has its own way today.',
  }),
  loadBalancerSourceRanges: list(9, 'string', {
    listType: 'atomic',
    description: 'Which clients the load balancer lets in.',
  }),
  externalName: string(10, { description: 'The name that an ExternalName Service stands for.' }),
  externalTrafficPolicy: string(11, {
    enum: ['Cluster', 'Local'],
    description: 'Whether traffic from outside goes to pods of all nodes or only of the node that it reached.',
  }),
  healthCheckNodePort: int32(12, {
    description: 'The port on which nodes tell load balancers whether they have pods of it.',
  }),
  publishNotReadyAddresses: bool(13, { description: 'Pods count before they are ready.' }),
  sessionAffinityConfig: struct(14, sessionAffinityConfig, {
    pointer: true,
    description: 'How long a client stays with one pod.',
  }),
  ipFamilyPolicy: string(17, {
    pointer: true,
    enum: ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
    description: 'Whether it has addresses of one family or of two.',
  }),
  clusterIPs: list(18, 'string', {
    listType: 'atomic',
    description: 'Its addresses within the cluster, clusterIP first.',
  }),
  ipFamilies: list(19, 'string', {
    listType: 'atomic',
    enum: ['', 'IPv4', 'IPv6'],
    enumUnchecked: true,
    description: 'The address families that it has, in the order of clusterIPs.',
  }),
  allocateLoadBalancerNodePorts: bool(20, {
    pointer: true,
    description: 'Whether a load balancer needs ports on the nodes.',
  }),
  loadBalancerClass: string(21, { pointer: true, description: 'Which load balancer serves it.' }),
  internalTrafficPolicy: string(22, {
    pointer: true,
    enum: ['Cluster', 'Local'],
    description: 'Whether traffic from within goes to pods of all nodes or only of the same node.',
  }),
  trafficDistribution: string(23, { pointer: true, description: 'Which pods are preferred, such as those nearby.' }),
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
  loadBalancer: struct(1, loadBalancerStatus, { description: 'Where the load balancer is reached.' }),
  conditions: list(2, condition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Its state, as told by whoever implements it.',
  }),
})
export interface ServiceStatus extends Infer<typeof serviceStatus> {}
