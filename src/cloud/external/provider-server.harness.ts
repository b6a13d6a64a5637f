// The simulated cloud behind a unix socket, as a program: `node provider-server.harness.ts <socket> <faults as JSON>`.
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { serveGrpc, type ServedCall } from '../../wire/grpc/grpc-server.harness.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import type { Message, Proto, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type { CloudFault } from '../simulated/cloud-faults.ts'
import { SimulatedCloud } from '../simulated/simulated-cloud.ts'
import { providerMethods as methods } from './provider-protocol.ts'

const [path = '', faultsText = '[]'] = process.argv.slice(2)
const cloud = new SimulatedCloud({ clock: realClock, faults: JSON.parse(faultsText) as CloudFault[] })
cloud.addInstance('node-0', '192.0.2.1')
const { instances, loadBalancers, routes } = cloud.provider
if (instances === undefined || loadBalancers === undefined || routes === undefined) throw new Error('a part is missing')

const ctx = context(new AbortController().signal)
const unknownStatus = 2

function served<Q extends Message, A extends Message>(
  { path: at, request, response }: GrpcMethod<Q, A>,
  act: (received: Proto<Q>) => Promise<ProtoInput<A>>,
): [string, (call: ServedCall) => Promise<void>] {
  return [
    at,
    async (call) => {
      // To its end: a stream that is left early is reset.
      const [bytes = new Uint8Array()] = await Array.fromAsync(call.messages)
      try {
        call.send(encodeProto(response, await act(decodeProto(request, bytes))))
        call.finish(0)
      } catch (error) {
        call.finish(unknownStatus, errorText(error))
      }
    },
  ]
}

const serviceOf = (text: string) => JSON.parse(text) as Service
const nodesOf = (texts: readonly string[]) => texts.map((text) => JSON.parse(text) as Node)
const done = async (acted: Promise<void>) => {
  await acted
  return {}
}
const none = { name: '', nodeName: '', destinationCidr: '', isBlackhole: false }

await serveGrpc(
  Object.fromEntries([
    served(methods.getInfo, () =>
      Promise.resolve({ name: 'simulated', hasInstances: true, hasLoadBalancers: true, hasRoutes: true }),
    ),
    served(methods.findInstance, async ({ node }) => {
      const instance = await instances.find(JSON.parse(node) as Node, ctx)
      return instance === undefined ? {} : { instance }
    }),
    served(methods.findLoadBalancer, async ({ service }) => {
      const found = await loadBalancers.find(serviceOf(service), ctx)
      return { exists: found !== undefined, ingress: found ?? [] }
    }),
    served(methods.ensureLoadBalancer, async ({ service, nodes }) => ({
      exists: true,
      ingress: await loadBalancers.ensure(serviceOf(service), nodesOf(nodes), ctx),
    })),
    served(methods.updateLoadBalancer, ({ service, nodes }) =>
      done(loadBalancers.updateNodes(serviceOf(service), nodesOf(nodes), ctx)),
    ),
    served(methods.deleteLoadBalancer, ({ service }) => done(loadBalancers.delete(serviceOf(service), ctx))),
    served(methods.listRoutes, async () => ({ routes: await routes.list(ctx) })),
    served(methods.createRoute, ({ route = none, nameHint = '' }) => done(routes.create(route, nameHint, ctx))),
    served(methods.deleteRoute, ({ route = none }) => done(routes.delete(route, ctx))),
  ]),
  { path },
)
process.stdout.write('ready\n')
