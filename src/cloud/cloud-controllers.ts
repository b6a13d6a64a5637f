// The controllers of a cloud: those whose part the provider implements.
import type { Controller } from '../controllers/runtime/controller.ts'
import type { CloudInstances, CloudLoadBalancers, CloudProvider, CloudRoutes } from './provider/cloud-provider.ts'
import { cloudNodeController } from './node/cloud-node-controller.ts'
import { cloudNodeLifecycleController } from './node/cloud-node-lifecycle-controller.ts'
import { providerCalls, type ProviderCall, type ProviderCallDeps } from './provider/provider-calls.ts'
import { routeController } from './route/route-controller.ts'
import { serviceController } from './service/service-controller.ts'

export function cloudControllers(
  { name, instances, loadBalancers, routes }: CloudProvider,
  deps: ProviderCallDeps,
): readonly Controller[] {
  const callsOf = (controller: string) => providerCalls(controller, name, deps)
  return [
    ...(instances === undefined
      ? []
      : [
          cloudNodeController(calledInstances(instances, callsOf('cloud-node'))),
          cloudNodeLifecycleController(calledInstances(instances, callsOf('cloud-node-lifecycle'))),
        ]),
    ...(routes === undefined ? [] : [routeController(calledRoutes(routes, callsOf('route')))]),
    ...(loadBalancers === undefined ? [] : [serviceController(calledLoadBalancers(loadBalancers, callsOf('service')))]),
  ]
}

const calledInstances = (instances: CloudInstances, call: ProviderCall): CloudInstances => ({
  find: (node, context) =>
    call(`find the instance of ${node.metadata.name}`, context, (own) => instances.find(node, own)),
})

const calledRoutes = (routes: CloudRoutes, call: ProviderCall): CloudRoutes => ({
  list: (context) => call('list routes', context, (own) => routes.list(own)),
  create: (route, hint, context) =>
    call(`create a route for ${route.destinationCidr} to ${route.nodeName}`, context, (own) =>
      routes.create(route, hint, own),
    ),
  delete: (route, context) =>
    call(`delete the route for ${route.destinationCidr} to ${route.nodeName}`, context, (own) =>
      routes.delete(route, own),
    ),
})

const calledLoadBalancers = (balancers: CloudLoadBalancers, call: ProviderCall): CloudLoadBalancers => ({
  find: (service, context) =>
    call(`find the load balancer of ${service.metadata.name}`, context, (own) => balancers.find(service, own)),
  ensure: (service, nodes, context) =>
    call(`ensure the load balancer of ${service.metadata.name}`, context, (own) =>
      balancers.ensure(service, nodes, own),
    ),
  updateNodes: (service, nodes, context) =>
    call(`update the nodes of the load balancer of ${service.metadata.name}`, context, (own) =>
      balancers.updateNodes(service, nodes, own),
    ),
  delete: (service, context) =>
    call(`delete the load balancer of ${service.metadata.name}`, context, (own) => balancers.delete(service, own)),
})
