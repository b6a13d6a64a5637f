// The protocol of a cloud provider in another process: gRPC on a unix socket. Nodes and Services are sent in the JSON of the
// Kubernetes API, so that a provider needs no definitions but these. docs/cloud.md describes the calls.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { mapOf, optional, protoMessage, repeated, singular } from '../../wire/protobuf/proto-message.ts'

const service = 'coxswain.cloud.v1.CloudProvider'
const empty = protoMessage('coxswain.cloud.v1.Empty', {})

const instance = protoMessage('coxswain.cloud.v1.Instance', {
  providerId: singular(1, 'string'),
  addresses: repeated(
    2,
    protoMessage('coxswain.cloud.v1.Address', { type: singular(1, 'string'), address: singular(2, 'string') }),
  ),
  type: singular(3, 'string'),
  zone: singular(4, 'string'),
  region: singular(5, 'string'),
  labels: mapOf(6, 'string'),
  isShutDown: singular(7, 'bool'),
})

const ingress = protoMessage('coxswain.cloud.v1.Ingress', {
  ip: singular(1, 'string'),
  hostname: singular(2, 'string'),
  ipMode: singular(3, 'string'),
})

const route = protoMessage('coxswain.cloud.v1.Route', {
  name: singular(1, 'string'),
  nodeName: singular(2, 'string'),
  destinationCidr: singular(3, 'string'),
  isBlackhole: singular(4, 'bool'),
})

/** The Service, and the nodes of its load balancer, as JSON. */
const balancerRequest = protoMessage('coxswain.cloud.v1.LoadBalancerRequest', {
  service: singular(1, 'string'),
  nodes: repeated(2, 'string'),
})

const balancerResponse = protoMessage('coxswain.cloud.v1.LoadBalancerResponse', {
  exists: singular(1, 'bool'),
  ingress: repeated(2, ingress),
})

const info = protoMessage('coxswain.cloud.v1.ProviderInfo', {
  name: singular(1, 'string'),
  hasInstances: singular(2, 'bool'),
  hasLoadBalancers: singular(3, 'bool'),
  hasRoutes: singular(4, 'bool'),
})

const nodeRequest = protoMessage('coxswain.cloud.v1.NodeRequest', { node: singular(1, 'string') })
/** Without an instance: the cloud has none. */
const instanceResponse = protoMessage('coxswain.cloud.v1.InstanceResponse', { instance: singular(1, instance) })
const routeRequest = protoMessage('coxswain.cloud.v1.RouteRequest', {
  route: singular(1, route),
  nameHint: optional(2, 'string'),
})
const routes = protoMessage('coxswain.cloud.v1.Routes', { routes: repeated(1, route) })

export const providerMethods = {
  getInfo: grpcMethod(service, 'GetInfo', empty, info),
  findInstance: grpcMethod(service, 'FindInstance', nodeRequest, instanceResponse),
  findLoadBalancer: grpcMethod(service, 'FindLoadBalancer', balancerRequest, balancerResponse),
  ensureLoadBalancer: grpcMethod(service, 'EnsureLoadBalancer', balancerRequest, balancerResponse),
  updateLoadBalancer: grpcMethod(service, 'UpdateLoadBalancer', balancerRequest, empty),
  deleteLoadBalancer: grpcMethod(service, 'DeleteLoadBalancer', balancerRequest, empty),
  listRoutes: grpcMethod(service, 'ListRoutes', empty, routes),
  createRoute: grpcMethod(service, 'CreateRoute', routeRequest, empty),
  deleteRoute: grpcMethod(service, 'DeleteRoute', routeRequest, empty),
} as const
