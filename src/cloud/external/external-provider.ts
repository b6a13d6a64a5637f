// A cloud provider in another process. A call that fails is not repeated here: the controllers retry, and all operations are
// idempotent.
import type { LoadBalancerIngress } from '../../api/core/v1/service/service-spec.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { noMetadata, type GrpcChannel, type GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type { CloudInstances, CloudLoadBalancers, CloudProvider, CloudRoutes } from '../provider/cloud-provider.ts'
import { providerMethods } from './provider-protocol.ts'

type Call = <Q extends Message, A extends Message>(
  method: GrpcMethod<Q, A>,
  request: ProtoInput<Q>,
  signal: AbortSignal,
) => Promise<Proto<A>>

/** Reads which parts the provider has. Fails while it does not run. */
export async function externalProvider(
  channel: Pick<GrpcChannel, 'unary'>,
  signal: AbortSignal,
): Promise<CloudProvider> {
  const call: Call = async (method, request, stop) => {
    try {
      return await channel.unary(method, request, noMetadata, stop)
    } catch (error) {
      // The message of the provider is shown in events; the rest of the error is about the connection.
      throw error instanceof GrpcError && error.code === 'UNKNOWN' ? new Error(error.details, { cause: error }) : error
    }
  }
  const { name, hasInstances, hasLoadBalancers, hasRoutes } = await call(providerMethods.getInfo, {}, signal)
  if (name === '') throw new Error('the cloud provider has no name')
  return {
    name,
    ...(hasInstances ? { instances: instancesThrough(call) } : {}),
    ...(hasLoadBalancers ? { loadBalancers: balancersThrough(call) } : {}),
    ...(hasRoutes ? { routes: routesThrough(call) } : {}),
  }
}

const instancesThrough = (call: Call): CloudInstances => ({
  async find(node, { signal }) {
    const { instance } = await call(providerMethods.findInstance, { node: JSON.stringify(node) }, signal)
    return instance
  },
})

const requestOf = (service: Service, nodes: readonly Node[] = []) => ({
  service: JSON.stringify(service),
  nodes: nodes.map((node) => JSON.stringify(node)),
})

type WireIngress = Proto<typeof providerMethods.ensureLoadBalancer.response>['ingress'][number]

const ingressOf = ({ ip, hostname, ipMode }: WireIngress): LoadBalancerIngress => ({
  ...(ip === '' ? {} : { ip }),
  ...(hostname === '' ? {} : { hostname }),
  ...(ipMode === '' ? {} : { ipMode }),
})

const balancersThrough = (call: Call): CloudLoadBalancers => ({
  async find(service, { signal }) {
    const { exists, ingress } = await call(providerMethods.findLoadBalancer, requestOf(service), signal)
    return exists ? ingress.map(ingressOf) : undefined
  },
  async ensure(service, nodes, { signal }) {
    const { ingress } = await call(providerMethods.ensureLoadBalancer, requestOf(service, nodes), signal)
    return ingress.map(ingressOf)
  },
  async updateNodes(service, nodes, { signal }) {
    await call(providerMethods.updateLoadBalancer, requestOf(service, nodes), signal)
  },
  async delete(service, { signal }) {
    await call(providerMethods.deleteLoadBalancer, requestOf(service), signal)
  },
})

const routesThrough = (call: Call): CloudRoutes => ({
  list: async ({ signal }) => (await call(providerMethods.listRoutes, {}, signal)).routes,
  async create(route, nameHint, { signal }) {
    await call(providerMethods.createRoute, { route, nameHint }, signal)
  },
  async delete(route, { signal }) {
    await call(providerMethods.deleteRoute, { route }, signal)
  },
})
