import { deepEqual, equal, match } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { modifiedConflict, notFound } from '../api/errors/status-error.ts'
import type { ApiObject } from '../api/meta/object.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { Metrics } from '../base/observability/metrics.ts'
import { seededRandom } from '../base/random/random.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { Client } from '../client/client.ts'
import type { ApiCall, Transport } from '../client/transport/transport.ts'
import { event, type Event } from '../api/core/v1/event.ts'
import type { EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts'
import { portRetryMs } from '../ingress/data-plane/data-plane.ts'
import { ingressMetrics } from '../ingress/data-plane/ingress-metrics.ts'
import { SimulatedConnections } from '../ingress/data-plane/simulated-connections.harness.ts'
import { SimulatedInformers } from '../ingress/simulated-informers.harness.ts'
import type { BalancerTarget } from './attachment/gateway-balancer.ts'
import { portsPerNamespaceMax } from './attachment/gateway-limits.ts'
import { gatewayClassDefinition } from './definitions/gateway-class.ts'
import { ownGatewayClass } from './gateway-class.ts'
import { startGatewayController } from './gateway-controller.ts'
import {
  gateway as gatewayKind,
  listenerSet as listenerSetKind,
  type Gateway,
  type GatewayClass,
} from './kinds/gateway-kinds.ts'
import { backendTlsPolicy } from './kinds/policy-kinds.ts'
import { httpRoute, tlsRoute, type AnyRoute } from './kinds/route-kinds.ts'
import {
  gatewayOf,
  grpcRouteOf,
  httpRouteOf,
  listener,
  listenerSetOf,
  object,
  secretOf,
  serviceOf,
} from './simulated-objects.harness.ts'

const classOf = (name = 'coxswain', spec: Partial<GatewayClass['spec']> = {}): GatewayClass => ({
  ...object(name, ''),
  spec: { ...ownGatewayClass.spec, ...spec },
})
const https = listener('https', { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'tls' }] } })
const slice = {
  ...object('web-1', 'default', { labels: { 'kubernetes.io/service-name': 'web' } }),
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080 }],
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
}
const routePlurals = { HTTPRoute: 'httproutes', GRPCRoute: 'grpcroutes', TLSRoute: 'tlsroutes' } as const

/** Written statuses come back by the watch, unless writes fail. */
async function stage(addresses: readonly string[] = ['192.0.2.1'], balancerTarget?: BalancerTarget) {
  const connections = new SimulatedConnections()
  const informers = new SimulatedInformers()
  const written: string[] = []
  const warnings: string[] = []
  const events: Event[] = []
  const applied = new Map<string, ApiObject>()
  const failing: { with: Error | undefined; name: string | undefined } = { with: undefined, name: undefined }
  const transport = {
    send: async ({ verb, subresource, kind, namespace, name, body }: ApiCall) => {
      const { plural } = kind
      if (verb === 'delete') {
        written.push(`delete ${plural} ${name}`)
        return informers.remove(plural, `${namespace}/${name}`)
      }
      const sent = body as ApiObject
      written.push(`${verb} ${plural}/${subresource} ${sent.metadata.name}`)
      if (verb === 'patch') applied.set(`${plural} ${sent.metadata.name}`, sent)
      if (kind.plural === 'events') events.push(sent as Event)
      if (failing.with !== undefined || sent.metadata.name === failing.name)
        throw failing.with ?? new Error('the object is not valid')
      informers.set(plural, sent)
      return sent
    },
  } as unknown as Transport
  const clock = new VirtualClock()
  const tasks = new TaskGroup()
  const metrics = new Metrics()
  const measures = ingressMetrics(metrics)
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const common = { clock, log, informers, random: seededRandom(1), flow: new FlowRecorder(clock) }
  const dataPlane = connections.startDataPlane(common, tasks)
  connections.endpoints.set('10.0.0.1:8080', () => ({ status: 200, body: 'hello' }))
  for (const [plural, each] of [
    ['customresourcedefinitions', gatewayClassDefinition],
    ['gatewayclasses', classOf()],
    ['services', serviceOf()],
    ['secrets', secretOf('pair')],
    ['endpointslices', slice],
  ] as const)
    informers.set(plural, each)
  const controller = startGatewayController(
    {
      ...common,
      dataPlane,
      client: new Client(transport),
      isKeyPair: () => true,
      isCertificates: () => true,
      metrics: measures,
    },
    { addresses, boundPort: (port) => port + 8_000, ...(balancerTarget === undefined ? {} : { balancerTarget }) },
    tasks,
  )
  await clock.advance('1s')
  return {
    connections,
    informers,
    written,
    warnings,
    failing,
    clock,
    controller,
    dataPlane,
    metrics,
    measures,
    events,
    flow: common.flow,
    set: (plural: string, value: object) => {
      informers.set(plural, value)
      return clock.advance('1s')
    },
    setRoute: ({ kind, object: route }: AnyRoute) => {
      informers.set(routePlurals[kind], route)
      return clock.advance('1s')
    },
    /** What was written last. */
    apply: (plural: string, name: string): ApiObject => {
      const found = applied.get(`${plural} ${name}`)
      if (found === undefined) throw new Error(`${plural} ${name} was not applied`)
      return found
    },
    gateway: () => informers.of(gatewayKind).get('default/gateway')?.status,
    get: async (scheme: 'http' | 'https' = 'http') =>
      (await connections.send(scheme, { host: 'a.com', target: '/' })).status,
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}

const conditionText = (
  status: Pick<NonNullable<Gateway['status']>, 'conditions'> | undefined,
  type: string,
): string => {
  const found = status?.conditions?.find((each) => each.type === type)
  return `${found?.status} ${found?.reason}`
}

test('a Gateway and its route are served, and their statuses are written once', async () => {
  await using own = await stage()
  await own.controller.synced
  deepEqual(own.written, ['update gatewayclasses/status coxswain'])
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  deepEqual([await own.get(), own.controller.portState('192.0.2.1', 80)], [404, { kind: 'open', port: 8_080 }])
  await own.setRoute(httpRouteOf('r'))
  equal(await own.get(), 200)
  deepEqual(own.gateway()?.listeners?.map(({ name, attachedRoutes }) => [name, attachedRoutes]), [['a', 1]]) // prettier-ignore
  deepEqual(own.gateway()?.addresses, [{ type: 'IPAddress', value: '192.0.2.1' }])
  const before = own.written.length
  await own.set('services', serviceOf())
  equal(own.written.length, before)
  deepEqual(
    [...new Set(own.written)],
    ['update gatewayclasses/status coxswain', 'update gateways/status gateway', 'update httproutes/status r'],
  )
})

test('listeners of ListenerSets are served, and their statuses are written', async () => {
  await using own = await stage()
  const listenerSet = (name: string) => own.informers.of(listenerSetKind).get(`default/${name}`)?.status
  own.informers.set('listenersets', listenerSetOf('set', [listener('b', { hostname: 'b.com' })]))
  // One that cannot be read, and one of another kind of parent, belong to no Gateway.
  own.informers.set('listenersets', object('unreadable'))
  own.informers.set('listenersets', {
    ...object('other'),
    spec: { parentRef: { group: 'example.com', kind: 'Gateway', name: 'gateway' }, listeners: [] },
  })
  await own.set(
    'gateways',
    gatewayOf('gateway', [listener('a', { hostname: 'a.com' })], {
      allowedListeners: { namespaces: { from: 'Same' } },
    }),
  )
  await own.setRoute(httpRouteOf('r', { parentRefs: [{ kind: 'ListenerSet', name: 'set' }] }))
  const get = async (host: string) => (await own.connections.send('http', { host, target: '/' })).status
  deepEqual([await get('a.com'), await get('b.com')], [404, 200])
  equal(conditionText(listenerSet('set'), 'Programmed'), 'True Programmed')
  deepEqual(listenerSet('set')?.listeners?.map(({ name, attachedRoutes }) => [name, attachedRoutes]), [['b', 1]]) // prettier-ignore
  equal(own.gateway()?.attachedListenerSets, 1)
  deepEqual([listenerSet('unreadable'), listenerSet('other')], [undefined, undefined])
})

test('the statuses of TLSRoutes and BackendTLSPolicies are written', async () => {
  await using own = await stage()
  const tls = listener('a', { port: 443, protocol: 'TLS', tls: { mode: 'Passthrough' } })
  await own.set('gateways', gatewayOf('gateway', [tls, listener('b')]))
  const rules = [{ backendRefs: [{ name: 'web', port: 80 }] }] as const
  await own.setRoute({
    kind: 'TLSRoute',
    object: {
      ...object('tls'),
      spec: { parentRefs: [{ name: 'gateway', sectionName: 'a' }], hostnames: ['a.com'], rules },
    },
  })
  await own.setRoute(httpRouteOf('r', { parentRefs: [{ name: 'gateway', sectionName: 'b' }] }))
  const policyOf = (name: string, service: string) => ({
    ...object(name),
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: service }],
      validation: { hostname: 'web.com', caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'missing' }] },
    },
  })
  await own.set('backendtlspolicies', policyOf('policy', 'web'))
  await own.set('backendtlspolicies', policyOf('of-others', 'other'))
  const route = own.informers.of(tlsRoute).get('default/tls')?.status?.parents[0]
  equal(conditionText(route, 'Accepted'), 'True Accepted')
  const policy = own.informers.of(backendTlsPolicy).get('default/policy')?.status?.ancestors[0]
  equal(conditionText(policy, 'ResolvedRefs'), 'False InvalidCACertificateRef')
  equal(own.informers.of(backendTlsPolicy).get('default/of-others')?.status, undefined)
})

test('the series of a route are removed with it', async () => {
  await using own = await stage()
  await own.setRoute(httpRouteOf('r'))
  for (const name of ['r', 'other']) own.measures.requests.add({ route: `httproute/default/${name}`, code: '200' })
  equal(own.metrics.text().includes('route="httproute/default/r"'), true)
  own.informers.remove('httproutes', 'default/r')
  const text = own.metrics.text()
  deepEqual(
    ['r', 'other'].map((name) => text.includes(`route="httproute/default/${name}"`)),
    [false, true],
  )
})

test('a removed Gateway closes its port, and the entry in the status of its route is removed', async () => {
  await using own = await stage()
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  await own.setRoute(httpRouteOf('r'))
  own.informers.remove('gateways', 'default/gateway')
  await own.clock.advance('1s')
  deepEqual([own.controller.portState('192.0.2.1', 80), own.connections.listening.size], [undefined, 0])
  deepEqual(own.informers.of(httpRoute).get('default/r')?.status, { parents: [] })
})

test('routes for gRPC are served on HTTPS', async () => {
  await using own = await stage()
  await own.set('gateways', gatewayOf('gateway', [https]))
  await own.setRoute(grpcRouteOf('g'))
  equal(own.connections.listening.get('https')?.tls?.certificate, 'pair')
  equal(own.gateway()?.listeners?.[0]?.attachedRoutes, 1)
  equal(own.written.at(-1), 'update grpcroutes/status g')
})

const leftAlone: readonly (readonly [string, readonly (readonly [plural: string, value: object])[]])[] = [
  [
    'a Gateway of another controller',
    [
      ['gatewayclasses', classOf('other', { controllerName: 'example.com/other' })],
      ['gateways', gatewayOf('gateway', [listener('a')], { gatewayClassName: 'other' })],
    ],
  ],
  ['a Gateway of a missing class', [['gateways', gatewayOf('gateway', [listener('a')], { gatewayClassName: 'gone' })]]],
  ['a route to a Gateway of others', [['httproutes', httpRouteOf('r').object]]],
]

suite('nothing is written about', () => {
  for (const [name, objects] of leftAlone)
    test(name, async () => {
      await using own = await stage()
      const before = own.written.length
      for (const [plural, value] of objects) await own.set(plural, value)
      deepEqual([own.written.slice(before), own.connections.listening.size], [[], 0])
    })
})

test('a Gateway of a class with parameters is not served; the class says why', async () => {
  await using own = await stage()
  await own.set('gatewayclasses', classOf('coxswain', { parametersRef: { group: '', kind: 'ConfigMap', name: 'x' } }))
  const before = own.written.length
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  deepEqual([own.written.length - before, own.connections.listening.size, own.gateway()], [0, 0, undefined])
})

test('a port that cannot be opened is reported by an event and a condition, and tried again', async () => {
  await using own = await stage()
  own.connections.listenFailure = new Error('listen EADDRINUSE')
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  equal(conditionText(own.gateway(), 'Programmed'), 'False Invalid')
  const events = () => Array.from(own.informers.of(event).all(), ({ reason, message }) => [reason, message])
  const message = 'port 80 cannot be opened, it is tried again: listen EADDRINUSE'
  deepEqual(events(), [['PortUnavailable', message]])
  const conditions = own.gateway()?.listeners?.[0]?.conditions
  equal(conditions?.find(({ type }) => type === 'Accepted')?.reason, 'PortUnavailable')
  own.connections.listenFailure = undefined
  await own.clock.advance(portRetryMs)
  deepEqual(events().length, 1)
  equal(conditionText(own.gateway(), 'Programmed'), 'True Programmed')
})

test('a port that Ingresses have for another protocol is not taken from them', async () => {
  await using own = await stage()
  await own.dataPlane.apply('ingress', [
    { name: 'http', port: 443, scheme: 'http', certificates: new Map(), routes: { find: () => undefined } },
  ])
  await own.set('gateways', gatewayOf('gateway', [https]))
  equal(conditionText(own.gateway(), 'Accepted'), 'False ListenersNotValid')
})

const failures: readonly (readonly [string, Error, isTriedAgain: boolean])[] = [
  ['that conflicts is left to the next change', modifiedConflict(gatewayKind, 'gateway'), false],
  ['to a deleted object is forgotten', notFound(gatewayKind, 'gateway'), false],
  ['that fails is tried again after a while', new Error('the server is gone'), true],
]

suite('a write', () => {
  for (const [name, error, isTriedAgain] of failures)
    test(name, async () => {
      await using own = await stage()
      own.failing.with = error
      own.informers.set('gateways', gatewayOf('gateway', [listener('a')]))
      await own.clock.advance('1ms')
      const first = own.written.length
      own.failing.with = undefined
      await own.clock.advance('30s')
      deepEqual([own.written.length - first, own.warnings], isTriedAgain ? [1, ['Gateways could not be applied']] : [0, []]) // prettier-ignore
    })
})

test('a Gateway with more ports than its namespace may have says so in its status and in an event', async () => {
  await using own = await stage()
  const listeners = Array.from({ length: portsPerNamespaceMax }, (_, index) =>
    listener(`l${index}`, { port: 1_000 + index }),
  )
  await own.set('gateways', gatewayOf('first', listeners))
  const metadata = { creationTimestamp: '2030-01-01T00:00:01Z' }
  await own.set('gateways', gatewayOf('gateway', [listener('a', { port: 2_000 })], {}, metadata))
  const message = 'the Gateways of namespace default have 128 ports already'
  const [status] = own.gateway()?.listeners ?? []
  deepEqual(
    status?.conditions.filter(({ type }) => type === 'Accepted' || type === 'Programmed').map((each) => [each.status, each.reason, each.message]),
    [['False', 'PortUnavailable', message], ['False', 'Invalid', message]],
  ) // prettier-ignore
  deepEqual([conditionText(own.gateway(), 'Accepted'), conditionText(own.gateway(), 'Programmed')], ['False ListenersNotValid', 'False Invalid']) // prettier-ignore
  const [found] = own.events.filter(({ involvedObject }) => involvedObject.name === 'gateway')
  deepEqual([found?.reason, found?.message], ['PortUnavailable', `listener a is not served: ${message}`])
})

test('a route that cannot be served has an event and is counted, and others are served', async () => {
  await using own = await stage()
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  await own.setRoute(httpRouteOf('bad', { rules: [{ backendRefs: 5 as unknown as [] }] }))
  await own.setRoute(httpRouteOf('r'))
  equal(await own.get(), 200)
  deepEqual(own.events.map(({ reason, involvedObject }) => [reason, involvedObject.name]), [['Unservable', 'bad']]) // prettier-ignore
  match(own.metrics.text(), /coxswain_ingress_unservable_objects_total\{kind="HTTPRoute"\}/)
})

test('a route whose status cannot be written does not delay others', async () => {
  await using own = await stage()
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  own.failing.name = 'poison'
  await own.setRoute(httpRouteOf('poison', {}, { creationTimestamp: '2029-01-01T00:00:00Z' }))
  await own.clock.advance('60s')
  await own.setRoute(httpRouteOf('r'))
  deepEqual(own.written.filter((text) => text.endsWith(' r')), ['update httproutes/status r']) // prettier-ignore
})

test('changes of Services, Secrets and Namespaces that no Gateway uses are ignored', async () => {
  await using own = await stage()
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  await own.setRoute(httpRouteOf('r'))
  const before = own.flow.last
  await own.set('services', { ...serviceOf(), metadata: { name: 'other', namespace: 'default' } })
  await own.set('secrets', { ...secretOf('x'), metadata: { name: 'other', namespace: 'default' } })
  await own.set('namespaces', { metadata: { name: 'other' } })
  equal(own.flow.last, before)
  await own.set('services', serviceOf())
  equal(own.flow.last > before, true)
})

test('a Gateway with a load balancer is served once it has an address', async () => {
  await using own = await stage(['192.0.2.1'], { address: '10.244.0.1', nodeName: 'node' })
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  equal(conditionText(own.gateway(), 'Programmed'), 'False AddressNotAssigned')
  equal(own.connections.listening.size, 0)
  const { apply } = own
  const created = apply('services', 'gateway-coxswain')
  await own.set('services', {
    ...created,
    metadata: { ...created.metadata, managedFields: [{ manager: 'coxswain-gateway' }] },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.240' }] } },
  })
  equal(conditionText(own.gateway(), 'Programmed'), 'True Programmed')
  deepEqual(own.gateway()?.addresses, [{ type: 'IPAddress', value: '192.0.2.240' }])
  const listening = own.connections.listening.get('http')
  deepEqual([listening?.host, listening?.port], ['10.244.0.1', 0])
  const leading = apply('endpointslices', 'gateway-coxswain') as unknown as EndpointSlice
  deepEqual(leading.endpoints?.[0]?.addresses, ['10.244.0.1'])
  const writes = () => own.written.filter((line) => /services|endpointslices/.test(line))
  const before = writes()
  await own.set('services', { ...serviceOf(), metadata: object('unrelated').metadata })
  deepEqual(writes(), before)
  // Another class has another controller.
  await own.set('gateways', gatewayOf('gateway', [listener('a')], { gatewayClassName: 'other' }))
  deepEqual(writes().slice(before.length), ['delete services gateway-coxswain', 'delete endpointslices gateway-coxswain']) // prettier-ignore
})

test('a Service or EndpointSlice of another owner is not changed', async () => {
  await using own = await stage(['192.0.2.1'], { address: '10.244.0.1', nodeName: 'node' })
  await own.set('services', { ...serviceOf(), metadata: object('gateway-coxswain').metadata })
  await own.set('gateways', gatewayOf('gateway', [listener('a')]))
  equal(conditionText(own.gateway(), 'Programmed'), 'False AddressNotAssigned')
  deepEqual(own.written.filter((line) => line.startsWith('patch')), []) // prettier-ignore
})
