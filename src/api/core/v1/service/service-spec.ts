// ServiceSpec and ServiceStatus.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int32, intOrString, list, map, message, string, struct } from '../../../../schema/descriptor/field.ts'
import { condition } from '../../../meta/v1/condition.ts'

export const servicePort = message('io.k8s.api.core.v1.ServicePort', {
  name: string(1, { description: 'The name of the port, unique in the Service; required if there are several.' }),
  protocol: string(2, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'], description: 'TCP (the default), UDP or SCTP.' }),
  port: int32(3, { required: true, description: 'The port at the address of the Service.' }),
  targetPort: intOrString(4, {
    description:
      'The port of the pods, as a number or as the name of a port of a container; the same as port by default.',
  }),
  nodePort: int32(5, {
    description: 'The port on every node, for the types NodePort and LoadBalancer; a free one is chosen by default.',
  }),
  appProtocol: string(6, {
    pointer: true,
    description: 'The protocol of the application, such as kubernetes.io/h2c, for load balancers.',
  }),
})
export interface ServicePort extends Infer<typeof servicePort> {}

export const clientIpConfig = message('io.k8s.api.core.v1.ClientIPConfig', {
  timeoutSeconds: int32(1, {
    pointer: true,
    description:
      'Seconds until a client without connections may be sent to another pod: from 1 to 86400, 10800 by default.',
  }),
})
export interface ClientIPConfig extends Infer<typeof clientIpConfig> {}

export const sessionAffinityConfig = message('io.k8s.api.core.v1.SessionAffinityConfig', {
  clientIP: struct(1, clientIpConfig, {
    pointer: true,
    description: 'Settings of the affinity to the address of the client.',
  }),
})
export interface SessionAffinityConfig extends Infer<typeof sessionAffinityConfig> {}

export const serviceSpec = message('io.k8s.api.core.v1.ServiceSpec', {
  ports: list(1, servicePort, {
    listType: 'map',
    keys: ['port', 'protocol'],
    patch: 'merge',
    mergeKey: 'port',
    description: 'The ports of the Service.',
  }),
  selector: map(2, 'string', { mapType: 'atomic', description: 'Selects the pods of the Service by label.' }),
  clusterIP: string(3, {
    description: 'The cluster IP, None for a headless Service; a free one is allocated by default.',
  }),
  type: string(4, {
    default: 'ClusterIP',
    enum: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
    description: 'The type of the Service: ClusterIP (the default), NodePort, LoadBalancer or ExternalName.',
  }),
  externalIPs: list(5, 'string', {
    listType: 'atomic',
    description: 'Additional addresses for which nodes accept its traffic.',
  }),
  sessionAffinity: string(7, {
    default: 'None',
    enum: ['ClientIP', 'None'],
    description: 'None (the default), or ClientIP: all connections of a client go to the same pod.',
  }),
  loadBalancerIP: string(8, {
    description: 'Deprecated: the address of the load balancer.',
  }),
  loadBalancerSourceRanges: list(9, 'string', {
    listType: 'atomic',
    description: 'The source ranges of clients that the load balancer accepts.',
  }),
  externalName: string(10, { description: 'The DNS name of an ExternalName Service.' }),
  externalTrafficPolicy: string(11, {
    enum: ['Cluster', 'Local'],
    description:
      'Whether external traffic goes to pods of all nodes (Cluster, the default) or of the node that received it (Local).',
  }),
  healthCheckNodePort: int32(12, {
    description: 'The port of the health check that reports to load balancers whether a node has pods of the Service.',
  }),
  publishNotReadyAddresses: bool(13, { description: 'Whether pods that are not ready are endpoints, too.' }),
  sessionAffinityConfig: struct(14, sessionAffinityConfig, {
    pointer: true,
    description: 'The options of the session affinity.',
  }),
  ipFamilyPolicy: string(17, {
    pointer: true,
    enum: ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
    description:
      'SingleStack (the default): one IP family; PreferDualStack: two if the cluster has them; RequireDualStack: two.',
  }),
  clusterIPs: list(18, 'string', {
    listType: 'atomic',
    description: 'The cluster IPs, one of each family; the first is clusterIP. They are allocated by default.',
  }),
  ipFamilies: list(19, 'string', {
    listType: 'atomic',
    enum: ['', 'IPv4', 'IPv6'],
    enumUnchecked: true,
    description: 'The IP families, in the order of clusterIPs; by default the first family of the cluster.',
  }),
  allocateLoadBalancerNodePorts: bool(20, {
    pointer: true,
    description: 'Whether node ports are allocated for a load balancer; true by default.',
  }),
  loadBalancerClass: string(21, { pointer: true, description: 'The class of the load balancer.' }),
  internalTrafficPolicy: string(22, {
    pointer: true,
    enum: ['Cluster', 'Local'],
    description:
      'Whether internal traffic goes to pods of all nodes (Cluster, the default) or of the same node (Local).',
  }),
  trafficDistribution: string(23, {
    pointer: true,
    description: 'The preferred endpoints, such as those in the same zone.',
  }),
})
export interface ServiceSpec extends Infer<typeof serviceSpec> {}

export const portStatus = message('io.k8s.api.core.v1.PortStatus', {
  port: int32(1, { required: true, description: 'The port.' }),
  protocol: string(2, { required: true, enum: ['SCTP', 'TCP', 'UDP'], description: 'TCP, UDP or SCTP.' }),
  error: string(3, { pointer: true, description: 'Why the port is not served, in CamelCase.' }),
})
export interface PortStatus extends Infer<typeof portStatus> {}

export const loadBalancerIngress = message('io.k8s.api.core.v1.LoadBalancerIngress', {
  ip: string(1, { description: 'An IP address.' }),
  hostname: string(2, { description: 'A host name, instead of an IP address.' }),
  ipMode: string(3, {
    pointer: true,
    description: 'VIP: nodes route the address themselves; Proxy: packets always pass the load balancer.',
  }),
  ports: list(4, portStatus, { listType: 'atomic', description: 'The state of each port.' }),
})
export interface LoadBalancerIngress extends Infer<typeof loadBalancerIngress> {}

export const loadBalancerStatus = message('io.k8s.api.core.v1.LoadBalancerStatus', {
  ingress: list(1, loadBalancerIngress, { listType: 'atomic', description: 'The addresses of the load balancer.' }),
})
export interface LoadBalancerStatus extends Infer<typeof loadBalancerStatus> {}

export const serviceStatus = message('io.k8s.api.core.v1.ServiceStatus', {
  loadBalancer: struct(1, loadBalancerStatus, { description: 'The addresses of the load balancer.' }),
  conditions: list(2, condition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'The conditions of the Service.',
  }),
})
export interface ServiceStatus extends Infer<typeof serviceStatus> {}
