// The proxy of Ingresses and Gateways: the requests to endpoints, the heads of responses, the connections and the API
// requests that follow from objects with hostile texts in any string field.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { ingressClass } from '../../src/api/networking/v1/ingress-class.ts'
import { ingress } from '../../src/api/networking/v1/ingress.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { backendTlsPolicyDefinition } from '../../src/gateway/definitions/backend-tls-policy.ts'
import { gatewayClassDefinition } from '../../src/gateway/definitions/gateway-class.ts'
import { gatewayDefinition } from '../../src/gateway/definitions/gateway.ts'
import { grpcRouteDefinition } from '../../src/gateway/definitions/grpc-route.ts'
import { httpRouteDefinition } from '../../src/gateway/definitions/http-route.ts'
import { listenerSetDefinition } from '../../src/gateway/definitions/listener-set.ts'
import { referenceGrantDefinition } from '../../src/gateway/definitions/reference-grant.ts'
import { tlsRouteDefinition } from '../../src/gateway/definitions/tls-route.ts'
import { startGatewayController } from '../../src/gateway/gateway-controller.ts'
import { gateway, gatewayClass, listenerSet, referenceGrant } from '../../src/gateway/kinds/gateway-kinds.ts'
import { backendTlsPolicy } from '../../src/gateway/kinds/policy-kinds.ts'
import { grpcRoute, httpRoute, tlsRoute } from '../../src/gateway/kinds/route-kinds.ts'
import { ingressMetrics } from '../../src/ingress/data-plane/ingress-metrics.ts'
import { SimulatedConnections } from '../../src/ingress/data-plane/simulated-connections.harness.ts'
import { startIngressController } from '../../src/ingress/ingress-controller.ts'
import { SimulatedInformers } from '../../src/ingress/simulated-informers.harness.ts'
import { responseHead } from '../../src/platform/http1/response-head.ts'
import * as base from './base-objects.ts'
import {
  peerViolations,
  requestViolations,
  responseViolations,
  serverNameViolations,
  targetViolations,
  type Violation,
} from './checks.ts'
import * as proxied from './ingress-objects.ts'
import { recordedApi, type RecordedApi } from './recorded-api.ts'
import { namedMessageOf } from './schema-message.ts'
import { sentText } from './sent-text.ts'
import { reportOf, variantsOf, type BaseObject, type NamedMessage } from './variants.ts'

type PluralObject = readonly [plural: string, object: object]

interface Effects {
  /** The heads of requests to endpoints. */
  readonly requests: string[]
  readonly responses: string[]
  readonly peers: { readonly address: string; readonly port: number }[]
  /** Of endpoints that are called over TLS. */
  readonly serverNames: string[]
  readonly api: RecordedApi
  /** The statuses of responses for the host of the plain objects. */
  readonly plainStatuses: number[]
}

/** What clients ask for. */
const targets = ['/in/x?q=1', '/exact', '/resource/x', '/redirect/x?q=1', '/full/x', '/']

/** Runs the controller with these objects, and sends requests for the hosts with these numbers. */
async function effectsOf(
  which: 'Ingress' | 'Gateway',
  objects: readonly PluralObject[],
  numbers: readonly number[],
): Promise<Effects> {
  const gatewayKinds = [
    gatewayClass,
    gateway,
    httpRoute,
    grpcRoute,
    tlsRoute,
    backendTlsPolicy,
    listenerSet,
    referenceGrant,
  ] as unknown as readonly Kind[]
  const api = recordedApi([], gatewayKinds)
  const effects: Effects = { requests: [], responses: [], peers: [], serverNames: [], api, plainStatuses: [] }
  const texts: Promise<string>[] = []
  const connections = new SimulatedConnections()
  const { open } = connections.http1
  Object.assign(connections.http1, {
    open: (options: Parameters<typeof open>[0]) => {
      effects.peers.push(options.server)
      if (options.tls !== undefined) effects.serverNames.push(options.tls.serverName)
      const endpoint = `${options.server.address}:${options.server.port}`
      connections.endpoints.set(endpoint, (request) => {
        texts.push(sentText({ ...request, body: '' }))
        return { status: 200, body: 'ok' }
      })
      return open(options)
    },
  })
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const informers = new SimulatedInformers()
  for (const [plural, object] of objects) informers.set(plural, object)
  await using tasks = new TaskGroup()
  const common = { clock, log: silentLog, informers, random: seededRandom(1), flow: new FlowRecorder(clock) }
  const dataPlane = connections.startDataPlane(common, tasks)
  const deps = {
    ...common,
    dataPlane,
    client: api.client,
    isKeyPair: () => true,
    isCertificates: () => true,
    metrics: ingressMetrics(new Metrics()),
  }
  if (which === 'Ingress')
    startIngressController(deps, { httpPort: 80, httpsPort: 443, addresses: [{ ip: '192.0.2.1' }] }, tasks)
  else startGatewayController(deps, { addresses: ['192.0.2.1'], boundPort: (port) => port }, tasks)
  await clock.advance('10s')
  for (const index of [0, ...numbers])
    for (const scheme of ['http', 'https'] as const)
      for (const target of targets)
        for (const method of ['GET', 'POST'] as const) {
          const sent = { method, host: proxied.hostOf(index), target, headers: { 'x-a': '1' } }
          const { status, headers } = await connections.send(scheme, sent)
          const framing = { length: 'none', connection: undefined } as const
          effects.responses.push(responseHead(status, headers ?? {}, framing, 'x'))
          if (index === 0) effects.plainStatuses.push(status)
        }
  effects.requests.push(...(await Promise.all(texts)))
  return effects
}

const violationsIn = ({ requests, responses, peers, serverNames, api }: Effects): Violation[] => [
  ...requests.flatMap(requestViolations),
  ...responses.flatMap(responseViolations),
  ...peers.flatMap(peerViolations),
  ...serverNames.flatMap(serverNameViolations),
  ...[...api.targets].flatMap(targetViolations),
  ...api.unknown.map((target) => ({ text: `no resource: ${target}`, index: undefined })),
]

/** What the objects with this number refer to. */
const backendsOf = (index: number): readonly PluralObject[] => [
  [service.plural, base.serviceOf(index)],
  [endpointSlice.plural, base.endpointSliceOf(index)],
  [secret.plural, proxied.tlsOf(index)],
]
const plain: Record<'Ingress' | 'Gateway', readonly PluralObject[]> = {
  Ingress: [...backendsOf(0), [ingressClass.plural, proxied.ingressClassOf(0)], [ingress.plural, proxied.ingressOf(0)]],
  Gateway: [
    ...backendsOf(0),
    ['customresourcedefinitions', gatewayClassDefinition],
    [namespace.plural, base.namespaceOf(0)],
    [gatewayClass.plural, proxied.gatewayClassOf(0)],
    [gateway.plural, proxied.gatewayOf(0)],
    [httpRoute.plural, proxied.httpRouteOf(0)],
  ],
}
const ingressAt = (index: number): PluralObject => [ingress.plural, proxied.ingressOf(index)]
const routeAt = (index: number): PluralObject => [httpRoute.plural, proxied.httpRouteOf(index)]
const grpcAt = (index: number): PluralObject => [grpcRoute.plural, proxied.grpcRouteOf(index)]
const authorityAt = (index: number): PluralObject => [configMap.plural, proxied.authorityOf(index)]
const without = (plural: string, objects: readonly PluralObject[]) => objects.filter(([each]) => each !== plural)

type Row = readonly [
  which: 'Ingress' | 'Gateway',
  kind: NamedMessage,
  plural: string,
  base: BaseObject,
  companions: (index: number) => readonly PluralObject[],
]
const rows: readonly Row[] = [
  ['Ingress', ingress, ingress.plural, proxied.ingressOf, backendsOf],
  ['Ingress', ingressClass, ingressClass.plural, proxied.ingressClassOf, () => []],
  [
    'Ingress',
    service,
    service.plural,
    base.serviceOf,
    (at) => [...without(service.plural, backendsOf(at)), ingressAt(at)],
  ],
  [
    'Ingress',
    endpointSlice,
    endpointSlice.plural,
    base.endpointSliceOf,
    (at) => [...without(endpointSlice.plural, backendsOf(at)), ingressAt(at)],
  ],
  ['Ingress', secret, secret.plural, proxied.tlsOf, (at) => [...without(secret.plural, backendsOf(at)), ingressAt(at)]],
  ['Gateway', namedMessageOf(httpRouteDefinition), httpRoute.plural, proxied.httpRouteOf, backendsOf],
  ['Gateway', namedMessageOf(grpcRouteDefinition), grpcRoute.plural, proxied.grpcRouteOf, backendsOf],
  ['Gateway', namedMessageOf(tlsRouteDefinition), tlsRoute.plural, proxied.tlsRouteOf, backendsOf],
  [
    'Gateway',
    namedMessageOf(backendTlsPolicyDefinition),
    backendTlsPolicy.plural,
    proxied.backendTlsPolicyOf,
    (at) => [...backendsOf(at), routeAt(at), authorityAt(at)],
  ],
  ['Gateway', namedMessageOf(gatewayDefinition), gateway.plural, proxied.gatewayOf, backendsOf],
  ['Gateway', namedMessageOf(listenerSetDefinition), listenerSet.plural, proxied.listenerSetOf, backendsOf],
  ['Gateway', namedMessageOf(gatewayClassDefinition), gatewayClass.plural, proxied.gatewayClassOf, () => []],
  [
    'Gateway',
    namedMessageOf(referenceGrantDefinition),
    referenceGrant.plural,
    proxied.referenceGrantOf,
    (at) => [...backendsOf(at), routeAt(at), grpcAt(at)],
  ],
]

for (const which of ['Ingress', 'Gateway'] as const)
  test(`without hostile texts, requests of a ${which} are forwarded and answered`, async () => {
    const { requests, plainStatuses, responses, api } = await effectsOf(which, plain[which], [])
    ok(requests.some((text) => text.startsWith(which === 'Ingress' ? 'GET /in/x?q=1' : 'GET /out/x?q=1')))
    equal(plainStatuses[0], 200)
    ok(which === 'Ingress' || responses.some((text) => text.includes('location: https://to.example.com:8443/there/x')))
    ok([...api.targets].some((target) => target.startsWith('PUT ') && target.includes('/status')))
  })

test('without hostile texts, endpoints of a Service with a policy are called over TLS', async () => {
  const policy: PluralObject = [backendTlsPolicy.plural, proxied.backendTlsPolicyOf(0)]
  const { serverNames, plainStatuses } = await effectsOf('Gateway', [...plain.Gateway, policy, authorityAt(0)], [])
  deepEqual([...new Set(serverNames)], ['in.example.com'])
  equal(plainStatuses[0], 200)
})

for (const [which, kind, plural, baseObject, companions] of rows)
  test(`hostile texts in a ${kind.kind} of an ${which} proxy stay within one header, path or connection`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject)) {
      const objects = variants.map(({ object }): PluralObject => [plural, object])
      const numbers = variants.map(({ index }) => index)
      const all = [...plain[which], ...numbers.flatMap(companions), ...objects]
      const effects = await effectsOf(which, all, numbers)
      found.push(...reportOf(violationsIn(effects), variants))
      equal(effects.plainStatuses[0], 200, 'requests for another host are forwarded')
    }
    deepEqual(found, [])
  })
