// IngressSpec and IngressStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { typedLocalObjectReference } from '../../core/v1/references.ts'

export const serviceBackendPort = atomicMessage('io.k8s.api.networking.v1.ServiceBackendPort', {
  name: string(1),
  number: int32(2),
})
export interface ServiceBackendPort extends Infer<typeof serviceBackendPort> {}

export const ingressServiceBackend = message('io.k8s.api.networking.v1.IngressServiceBackend', {
  name: string(1, { required: true }),
  port: struct(2, serviceBackendPort),
})
export interface IngressServiceBackend extends Infer<typeof ingressServiceBackend> {}

export const ingressBackend = message('io.k8s.api.networking.v1.IngressBackend', {
  resource: struct(3, typedLocalObjectReference, { pointer: true }),
  service: struct(4, ingressServiceBackend, { pointer: true }),
})
export interface IngressBackend extends Infer<typeof ingressBackend> {}

export const httpIngressPath = message('io.k8s.api.networking.v1.HTTPIngressPath', {
  path: string(1),
  backend: struct(2, ingressBackend, { required: true }),
  pathType: string(3, { required: true, pointer: true, enum: ['Exact', 'ImplementationSpecific', 'Prefix'] }),
})
export interface HTTPIngressPath extends Infer<typeof httpIngressPath> {}

export const httpIngressRuleValue = message('io.k8s.api.networking.v1.HTTPIngressRuleValue', {
  paths: list(1, httpIngressPath, { required: true, listType: 'atomic' }),
})
export interface HTTPIngressRuleValue extends Infer<typeof httpIngressRuleValue> {}

export const ingressRule = message('io.k8s.api.networking.v1.IngressRule', {
  host: string(1),
  http: struct(1, httpIngressRuleValue, { pointer: true, embeddedAt: 2 }),
})
export interface IngressRule extends Infer<typeof ingressRule> {}

export const ingressTls = message('io.k8s.api.networking.v1.IngressTLS', {
  hosts: list(1, 'string', { listType: 'atomic' }),
  secretName: string(2),
})
export interface IngressTLS extends Infer<typeof ingressTls> {}

export const ingressSpec = message('io.k8s.api.networking.v1.IngressSpec', {
  defaultBackend: struct(1, ingressBackend, {
    pointer: true,
    description: 'The backend of requests that match no rule.',
  }),
  tls: list(2, ingressTls, { listType: 'atomic', description: 'The certificates for its hosts.' }),
  rules: list(3, ingressRule, { listType: 'atomic', description: 'The backends by host and path.' }),
  ingressClassName: string(4, { pointer: true, description: 'The class whose controller serves it.' }),
})
export interface IngressSpec extends Infer<typeof ingressSpec> {}

export const ingressPortStatus = message('io.k8s.api.networking.v1.IngressPortStatus', {
  port: int32(1, { required: true }),
  protocol: string(2, { required: true, enum: ['SCTP', 'TCP', 'UDP'] }),
  error: string(3, { pointer: true }),
})
export interface IngressPortStatus extends Infer<typeof ingressPortStatus> {}

export const ingressLoadBalancerIngress = message('io.k8s.api.networking.v1.IngressLoadBalancerIngress', {
  ip: string(1),
  hostname: string(2),
  ports: list(4, ingressPortStatus, { listType: 'atomic' }),
})
export interface IngressLoadBalancerIngress extends Infer<typeof ingressLoadBalancerIngress> {}

export const ingressLoadBalancerStatus = message('io.k8s.api.networking.v1.IngressLoadBalancerStatus', {
  ingress: list(1, ingressLoadBalancerIngress, { listType: 'atomic' }),
})
export interface IngressLoadBalancerStatus extends Infer<typeof ingressLoadBalancerStatus> {}

export const ingressStatus = message('io.k8s.api.networking.v1.IngressStatus', {
  loadBalancer: struct(1, ingressLoadBalancerStatus, { description: 'The addresses of the load balancer.' }),
})
export interface IngressStatus extends Infer<typeof ingressStatus> {}
