// IngressSpec and IngressStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { atomicMessage, int32, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import { typedLocalObjectReference } from '../../core/v1/references.ts'

export const serviceBackendPort = atomicMessage('io.k8s.api.networking.v1.ServiceBackendPort', {
  name: string(1, { description: 'The name of the port.' }),
  number: int32(2, { description: 'The number of the port, instead of its name.' }),
})
export interface ServiceBackendPort extends Infer<typeof serviceBackendPort> {}

export const ingressServiceBackend = message('io.k8s.api.networking.v1.IngressServiceBackend', {
  name: string(1, { required: true, description: 'The name of the Service, in the same namespace.' }),
  port: struct(2, serviceBackendPort, { description: 'The port of the Service.' }),
})
export interface IngressServiceBackend extends Infer<typeof ingressServiceBackend> {}

export const ingressBackend = message('io.k8s.api.networking.v1.IngressBackend', {
  resource: struct(3, typedLocalObjectReference, {
    pointer: true,
    description: 'An object of the namespace that serves the requests, instead of a Service.',
  }),
  service: struct(4, ingressServiceBackend, { pointer: true, description: 'The Service that serves the requests.' }),
})
export interface IngressBackend extends Infer<typeof ingressBackend> {}

export const httpIngressPath = message('io.k8s.api.networking.v1.HTTPIngressPath', {
  path: string(1, { description: 'The path, which begins with a slash.' }),
  backend: struct(2, ingressBackend, { required: true, description: 'What serves the requests.' }),
  pathType: string(3, {
    required: true,
    pointer: true,
    enum: ['Exact', 'ImplementationSpecific', 'Prefix'],
    description: 'Exact, Prefix (whole elements of the path) or ImplementationSpecific.',
  }),
})
export interface HTTPIngressPath extends Infer<typeof httpIngressPath> {}

export const httpIngressRuleValue = message('io.k8s.api.networking.v1.HTTPIngressRuleValue', {
  paths: list(1, httpIngressPath, { required: true, listType: 'atomic', description: 'The paths and their backends.' }),
})
export interface HTTPIngressRuleValue extends Infer<typeof httpIngressRuleValue> {}

export const ingressRule = message('io.k8s.api.networking.v1.IngressRule', {
  host: string(1, {
    description: 'The host of the requests, where *.example.com is every name below example.com; all hosts without it.',
  }),
  http: struct(1, httpIngressRuleValue, { pointer: true, embeddedAt: 2, description: 'The backends by path.' }),
})
export interface IngressRule extends Infer<typeof ingressRule> {}

export const ingressTls = message('io.k8s.api.networking.v1.IngressTLS', {
  hosts: list(1, 'string', { listType: 'atomic', description: 'The hosts of the certificate.' }),
  secretName: string(2, { description: 'The Secret of type kubernetes.io/tls with the certificate and its key.' }),
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
  port: int32(1, { required: true, description: 'The port.' }),
  protocol: string(2, { required: true, enum: ['SCTP', 'TCP', 'UDP'], description: 'TCP, UDP or SCTP.' }),
  error: string(3, { pointer: true, description: 'Why the port is not served, in CamelCase.' }),
})
export interface IngressPortStatus extends Infer<typeof ingressPortStatus> {}

export const ingressLoadBalancerIngress = message('io.k8s.api.networking.v1.IngressLoadBalancerIngress', {
  ip: string(1, { description: 'An IP address.' }),
  hostname: string(2, { description: 'A host name, instead of an IP address.' }),
  ports: list(4, ingressPortStatus, { listType: 'atomic', description: 'The state of each port.' }),
})
export interface IngressLoadBalancerIngress extends Infer<typeof ingressLoadBalancerIngress> {}

export const ingressLoadBalancerStatus = message('io.k8s.api.networking.v1.IngressLoadBalancerStatus', {
  ingress: list(1, ingressLoadBalancerIngress, {
    listType: 'atomic',
    description: 'The addresses at which the Ingress is served.',
  }),
})
export interface IngressLoadBalancerStatus extends Infer<typeof ingressLoadBalancerStatus> {}

export const ingressStatus = message('io.k8s.api.networking.v1.IngressStatus', {
  loadBalancer: struct(1, ingressLoadBalancerStatus, { description: 'The addresses of the load balancer.' }),
})
export interface IngressStatus extends Infer<typeof ingressStatus> {}
