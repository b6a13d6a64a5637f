import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { runToEnd } from '../base/work/work-slice.ts'
import {
  listenersPerNamespaceMax,
  matchesPerNamespaceMax,
  portsMax,
  portsPerNamespaceMax,
} from './attachment/gateway-limits.ts'
import { planCaches, planGateways } from './plan-gateways.ts'
import type { Gateway, Listener } from './kinds/gateway-kinds.ts'
import type { AnyRoute, HttpRouteRule } from './kinds/route-kinds.ts'
import {
  gatewayOf,
  grantOf,
  grpcRouteOf,
  httpRouteOf,
  listener,
  planned,
  secretOf,
  serviceOf,
  sourcesOf,
  type Known,
} from './simulated-objects.harness.ts'

const https = (name: string, more: Partial<Listener> = {}, ref: object = {}): Listener =>
  listener(name, { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'tls', ...ref }] }, ...more })
const secrets = { 'default/tls': secretOf('pair'), 'other/tls': secretOf('pair'), 'default/broken': secretOf('broken') }

const tls = (name: string, mode: 'Terminate' | 'Passthrough', more: Partial<Listener> = {}): Listener =>
  listener(name, { port: 443, protocol: 'TLS', tls: { mode, certificateRefs: [{ name: 'tls' }] }, ...more })

/** `Accepted ResolvedRefs Conflicted` by listener. */
const listeners = (gateways: readonly Gateway[], known: Known = {}) =>
  planned(gateways, [], sourcesOf({ secrets, ...known })).gateways.flatMap((verdict) =>
    verdict.listeners.map(({ accepted, resolvedRefs, conflicted }) =>
      [accepted, resolvedRefs, conflicted].map(({ reason }) => reason).join(' '),
    ),
  )

const listenerCases: readonly (readonly [string, readonly Listener[], Known, readonly string[]])[] = [
  ['valid ones', [listener('a'), https('b')], {}, Array(2).fill('Accepted ResolvedRefs NoConflicts')],
  ['another protocol', [listener('a', { protocol: 'UDP' })], {}, ['UnsupportedProtocol ResolvedRefs NoConflicts']],
  ['a protocol in lower case', [listener('a', { protocol: 'http' })], {}, ['Accepted ResolvedRefs NoConflicts']],
  [
    'two protocols on a port',
    [listener('a'), https('b', { port: 80 })],
    {},
    Array(2).fill('ProtocolConflict ResolvedRefs ProtocolConflict'),
  ],
  [
    'equal hostnames',
    [listener('a'), listener('b', { protocol: 'http' })],
    {},
    Array(2).fill('HostnameConflict ResolvedRefs HostnameConflict'),
  ],
  ['no certificate', [https('a', { tls: {} })], {}, ['Accepted InvalidCertificateRef NoConflicts']],
  ['a broken certificate', [https('a', {}, { name: 'broken' })], {}, ['Accepted InvalidCertificateRef NoConflicts']],
  ['a missing certificate', [https('a', {}, { name: 'gone' })], {}, ['Accepted InvalidCertificateRef NoConflicts']],
  [
    'a reference to a ConfigMap',
    [https('a', {}, { kind: 'ConfigMap' })],
    {},
    ['Accepted InvalidCertificateRef NoConflicts'],
  ],
  ['a foreign Secret', [https('a', {}, { namespace: 'other' })], {}, ['Accepted RefNotPermitted NoConflicts']],
  [
    'a granted Secret',
    [https('a', {}, { namespace: 'other' })],
    { grants: [grantOf('other', 'Gateway', 'Secret')] },
    ['Accepted ResolvedRefs NoConflicts'],
  ],
  [
    'an unknown kind of routes',
    [listener('a', { allowedRoutes: { kinds: [{ kind: 'TCPRoute' }] } })],
    {},
    ['Accepted InvalidRouteKinds NoConflicts'],
  ],
  ['TLS that is forwarded', [tls('a', 'Passthrough')], {}, ['Accepted ResolvedRefs NoConflicts']],
  ['TLS that is terminated', [tls('a', 'Terminate')], {}, ['Accepted ResolvedRefs NoConflicts']],
  [
    'TLS that is terminated, without a certificate',
    [tls('a', 'Terminate', { tls: { mode: 'Terminate' } })],
    {},
    ['Accepted InvalidCertificateRef NoConflicts'],
  ],
  [
    'TLS that is forwarded and TLS that is terminated, on one port',
    [tls('a', 'Terminate', { hostname: 'a.com' }), tls('b', 'Passthrough', { hostname: 'b.com' })],
    {},
    Array(2).fill('Accepted ResolvedRefs NoConflicts'),
  ],
  [
    'TLS and HTTPS on one port',
    [tls('a', 'Passthrough'), https('b')],
    {},
    Array(2).fill('ProtocolConflict ResolvedRefs ProtocolConflict'),
  ],
  [
    'a kind of routes that another protocol has',
    [tls('a', 'Passthrough', { allowedRoutes: { kinds: [{ kind: 'TLSRoute' }, { kind: 'HTTPRoute' }] } })],
    {},
    ['Accepted InvalidRouteKinds NoConflicts'],
  ],
  [
    'a port that Ingresses use for HTTPS',
    [listener('a', { port: 443 })],
    { otherPorts: new Map([[443, 'https']]) },
    ['PortUnavailable ResolvedRefs NoConflicts'],
  ],
]

suite('listeners', () => {
  for (const [name, own, known, expected] of listenerCases)
    test(name, () => deepEqual(listeners([gatewayOf('gateway', own)], known), expected))

  test('the older Gateway has a port and hostname; other hostnames are free', () => {
    const older = gatewayOf('z', [listener('a')], {}, { creationTimestamp: '2029-01-01T00:00:00Z' })
    const younger = gatewayOf('a', [listener('a'), listener('b', { hostname: 'x.com' })])
    const found = listeners([younger, older]).map((each) => each.split(' ')[0])
    deepEqual(found, ['Accepted', 'PortUnavailable', 'Accepted'])
  })
})

const gatewayCases: readonly (readonly [string, Partial<Gateway['spec']>, string, string, number])[] = [
  ['no address', {}, 'Accepted', 'Programmed', 1],
  ['the address of the proxy', { addresses: [{ value: '192.0.2.1' }] }, 'Accepted', 'Programmed', 1],
  ['another address', { addresses: [{ value: '192.0.2.9' }] }, 'Accepted', 'AddressNotUsable', 0],
  ['a hostname', { addresses: [{ type: 'Hostname', value: 'x' }] }, 'UnsupportedAddress', 'AddressNotUsable', 0],
  [
    'parameters',
    { infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'x' } } },
    'InvalidParameters',
    'Programmed',
    0,
  ],
]

suite('a Gateway with', () => {
  for (const [name, spec, accepted, addresses, ports] of gatewayCases)
    test(name, () => {
      const { gateways, frontends } = planned([gatewayOf('gateway', [listener('a')], spec)], [], sourcesOf())
      deepEqual(
        [gateways[0]?.accepted.reason, gateways[0]?.addresses.reason, frontends.length],
        [accepted, addresses, ports],
      )
    })
})

const rule = (more: HttpRouteRule): HttpRouteRule => ({ backendRefs: [{ name: 'web', port: 80 }], ...more })
const web = (more: object = {}) => ({ backendRefs: [{ name: 'web', port: 80, ...more }] })

const mirrorTo = (name: string) => ({ type: 'RequestMirror', requestMirror: { backendRef: { name, port: 80 } } })

/** `Accepted ResolvedRefs` of the first parent. */
const routeCases: readonly (readonly [string, AnyRoute, Known, string])[] = [
  ['a valid route', httpRouteOf('r'), {}, 'Accepted ResolvedRefs'],
  ['an unknown listener', httpRouteOf('r', { parentRefs: [{ name: 'gateway', sectionName: 'x' }] }), {}, 'NoMatchingParent ResolvedRefs'],
  ['an unknown port', httpRouteOf('r', { parentRefs: [{ name: 'gateway', port: 1 }] }), {}, 'NoMatchingParent ResolvedRefs'],
  ['another kind that the listener serves', grpcRouteOf('r'), {}, 'Accepted ResolvedRefs'],
  ['another hostname', httpRouteOf('r', { hostnames: ['x.com'] }), {}, 'NoMatchingListenerHostname ResolvedRefs'],
  ['a regular path', httpRouteOf('r', { rules: [rule({ matches: [{ path: { type: 'RegularExpression', value: '/a.*' } }] })] }), {}, 'Accepted ResolvedRefs'],
  ['a regular path that is not valid', httpRouteOf('r', { rules: [rule({ matches: [{ path: { type: 'RegularExpression', value: '/a)' } }] })] }), {}, 'UnsupportedValue ResolvedRefs'],
  ['a regular header that is not valid', httpRouteOf('r', { rules: [rule({ matches: [{ headers: [{ type: 'RegularExpression', name: 'a', value: '[' }] }] })] }), {}, 'UnsupportedValue ResolvedRefs'],
  ['a mirror', httpRouteOf('r', { rules: [rule({ filters: [mirrorTo('web')] })] }), {}, 'Accepted ResolvedRefs'],
  ['a missing mirror', httpRouteOf('r', { rules: [rule({ filters: [mirrorTo('gone')] })] }), {}, 'Accepted BackendNotFound'],
  ['an extension', httpRouteOf('r', { rules: [rule({ filters: [{ type: 'ExtensionRef', extensionRef: { group: '', kind: 'X', name: 'x' } }] })] }), {}, 'Accepted InvalidKind'],
  ['a missing Service', httpRouteOf('r'), { services: {} }, 'Accepted BackendNotFound'],
  ['a missing port', httpRouteOf('r', { rules: [web({ port: 81 })] }), {}, 'Accepted BackendNotFound'],
  ['a Service that needs TLS', httpRouteOf('r'), { services: { 'default/web': serviceOf('https') } }, 'Accepted UnsupportedProtocol'],
  ['a foreign Service', httpRouteOf('r', { rules: [web({ namespace: 'other' })] }), {}, 'Accepted RefNotPermitted'],
  ['another kind of backend', httpRouteOf('r', { rules: [web({ kind: 'X' })] }), {}, 'Accepted InvalidKind'],
] // prettier-ignore

suite('a route with', () => {
  for (const [name, route, known, expected] of routeCases)
    test(name, () => {
      const gateway = gatewayOf('gateway', [listener('a', { hostname: '*.a.com' })])
      const { routes } = planned([gateway], [route], sourcesOf(known))
      const [found] = routes
      equal(`${found?.parents[0]?.accepted.reason} ${found?.compiled.resolvedRefs.reason}`, expected)
    })

  test('the namespace of another parent, or a Service as parent, is not of this controller', () => {
    const parentRefs = [
      { name: 'gateway', namespace: 'other' },
      { name: 'web', group: '', kind: 'Service' },
    ]
    const { routes } = planned([gatewayOf('gateway', [listener('a')])], [httpRouteOf('r', { parentRefs })], sourcesOf())
    deepEqual(routes[0]?.parents, [])
  })
})

test('a listener that allows one kind of routes accepts no other', () => {
  const own = listener('a', { allowedRoutes: { kinds: [{ kind: 'HTTPRoute' }] } })
  const { routes } = planned([gatewayOf('gateway', [own])], [grpcRouteOf('r')], sourcesOf())
  equal(routes[0]?.parents[0]?.accepted.reason, 'NotAllowedByListeners')
})

test('a selector of namespaces with an unknown operator selects none', () => {
  const allowing = (operator: string) => {
    const selector = { matchExpressions: [{ key: 'team', operator }] }
    const own = listener('a', { allowedRoutes: { namespaces: { from: 'Selector', selector } } })
    const { attached } = planned(
      [gatewayOf('gateway', [own])],
      [httpRouteOf('r')],
      sourcesOf({ namespaces: { default: { team: 'x' } } }),
    )
    return attached.get(own) ?? 0
  }
  deepEqual([allowing('Exists'), allowing('Maybe')], [1, 0])
})

test('of an HTTPRoute and a GRPCRoute with a common hostname a listener accepts the older', () => {
  const gateway = gatewayOf('gateway', [https('a')])
  const routes = [httpRouteOf('r', {}, { creationTimestamp: '2031-01-01T00:00:00Z' }), grpcRouteOf('g')]
  const plan = planned([gateway], routes, sourcesOf({ secrets }))
  deepEqual(plan.routes.map(({ route, parents }) => [route.kind, parents[0]?.accepted.reason]), [['GRPCRoute', 'Accepted'], ['HTTPRoute', 'HostnameConflict']]) // prettier-ignore
})

test('a route becomes routes of the data plane for each hostname and match', () => {
  const matches = [{ path: { type: 'Exact', value: '/a' }, method: 'GET' }, { headers: [{ name: 'A', value: '1' }, { name: 'a', value: '2' }] }] // prettier-ignore
  const route = httpRouteOf('r', {
    hostnames: ['x.com', 'y.com'],
    rules: [{ ...web({ weight: 2 }), matches, timeouts: { request: '0s', backendRequest: '1500ms' } }],
  })
  const { frontends } = planned([gatewayOf('gateway', [listener('a')])], [route], sourcesOf())
  const found = (host: string, path: string, a = '') =>
    frontends[0]?.routes.find({
      method: 'GET',
      host,
      path,
      query: '',
      header: (name) => (name === 'a' ? a : undefined),
    })
  const exact = found('x.com', '/a')
  deepEqual([exact?.name, exact?.requestMsMax, exact?.backendMsMax], ['httproute/default/r', Infinity, 1500])
  deepEqual(exact?.backends.map(({ weight, backend }) => [weight, backend?.service]), [[2, 'web']]) // prettier-ignore
  deepEqual(
    [found('y.com', '/b', '1')?.match.headers.length, found('y.com', '/b', '2'), found('z.com', '/a')],
    [1, undefined, undefined],
  )
})

test('certificates are selected by hostname; one without a hostname is for all other clients', () => {
  const gateway = gatewayOf('gateway', [https('a', { hostname: '*.x.com' }), https('b')])
  const [frontend] = planned([gateway], [], sourcesOf({ secrets })).frontends
  deepEqual([frontend?.certificates.get('*.x.com')?.certificate, frontend?.fallback?.certificate], ['pair', 'pair'])
})

suite('what Gateways may use of the proxy is limited', () => {
  const manyOf = (count: number, namespace: (index: number) => string, portOf: (index: number, at: number) => number) =>
    Array.from({ length: count }, (_, index) =>
      gatewayOf(
        `g${String(index).padStart(3, '0')}`,
        Array.from({ length: 64 }, (_each, at) =>
          listener(`l${at}`, { port: portOf(index, at), hostname: `h${index}.com` }),
        ),
        {},
        { namespace: namespace(index) },
      ),
    )
  const acceptedOf = (gateways: readonly Gateway[]) => {
    const plan = planned(gateways, [], sourcesOf())
    const accepted = plan.gateways.map(({ listeners: all }) => all.filter((each) => each.accepted.isMet).length)
    const refused = plan.gateways.flatMap(({ listeners: all }) => all.filter((each) => !each.accepted.isMet))
    return { ports: plan.frontends.length, accepted, refused: [...new Set(refused.map(({ accepted: { reason, message } }) => `${reason}: ${message}`))] } // prettier-ignore
  }
  const ownPorts = (index: number, at: number) => 1_000 + index * 64 + at

  test('60 Gateways of a namespace do not open 3,840 ports', () => {
    const { ports, accepted, refused } = acceptedOf(manyOf(60, () => 'default', ownPorts))
    deepEqual([ports, accepted.slice(0, 3)], [portsPerNamespaceMax, [64, 64, 0]])
    deepEqual(refused, ['PortUnavailable: the Gateways of namespace default have 128 ports already'])
  })

  test('nor do Gateways of many namespaces', () => {
    const { ports, accepted, refused } = acceptedOf(manyOf(10, (index) => `n${index}`, ownPorts))
    deepEqual([ports, accepted], [portsMax, [64, 64, 64, 64, 64, 64, 64, 64, 0, 0]])
    deepEqual(refused, ['PortUnavailable: all Gateways have 512 ports already'])
  })

  test('ports that are open already are shared up to a number of listeners', () => {
    const { ports, accepted } = acceptedOf(manyOf(6, () => 'default', (_, at) => 1_000 + at)) // prettier-ignore
    deepEqual([ports, accepted.reduce((sum, count) => sum + count, 0)], [64, listenersPerNamespaceMax])
  })

  test('routes of a namespace have a limited number of matches, the older first, whatever those of others have', () => {
    const [gateway] = manyOf(1, () => 'default', ownPorts)
    const matches = Array.from({ length: 64 }, (_, at) => ({ path: { type: 'Exact', value: `/${at}` } }))
    const many = (name: string) =>
      httpRouteOf(name, { parentRefs: [{ name: 'g000' }], rules: [{ matches }, { matches }] })
    const from = { namespaces: { from: 'All' as const } }
    const open = gateway?.spec.listeners.map((each) => ({ ...each, allowedRoutes: from })) ?? []
    const { kind, object } = many('r5') as Extract<AnyRoute, { kind: 'HTTPRoute' }>
    const parentRefs = [{ name: 'g000', namespace: 'default' }]
    const metadata = { ...object.metadata, namespace: 'other' }
    const foreign: AnyRoute = { kind, object: { ...object, metadata, spec: { ...object.spec, parentRefs } } }
    const routes = [...['r1', 'r2', 'r3', 'r4'].map(many), foreign]
    const plan = planned([gatewayOf('g000', open)], routes, sourcesOf())
    const reasons = plan.routes.map(({ parents }) => parents.map(({ accepted }) => accepted.reason).join())
    deepEqual(reasons, ['Accepted', 'Accepted', 'TooManyMatches', 'TooManyMatches', 'Accepted'])
    equal(2 * 64 * 128 <= matchesPerNamespaceMax && 3 * 64 * 128 > matchesPerNamespaceMax, true)
  })
})

suite('an object that cannot be read does not affect others', () => {
  test('a Gateway', () => {
    const bad = gatewayOf('bad', [{ ...listener('a'), protocol: 5 as unknown as string }])
    const plan = planned([bad, gatewayOf('gateway', [listener('a')])], [httpRouteOf('r')], sourcesOf())
    deepEqual(plan.unservable.map(({ kind, object: { metadata } }) => [kind, metadata.name]), [['Gateway', 'bad']]) // prettier-ignore
    deepEqual(plan.gateways.map(({ accepted }) => accepted.isMet), [false, true]) // prettier-ignore
    equal(plan.frontends.length, 1)
  })

  test('a route that cannot be compiled, and one that cannot be attached', () => {
    const uncompiled = httpRouteOf('a', { rules: [{ backendRefs: 5 as unknown as [] }] })
    const unattached = httpRouteOf('b', { hostnames: [5 as unknown as string] })
    const at = gatewayOf('gateway', [listener('a', { hostname: '*.com' })])
    const plan = planned([at], [uncompiled, unattached, httpRouteOf('c')], sourcesOf())
    deepEqual(plan.unservable.map(({ object: { metadata } }) => metadata.name), ['a', 'b']) // prettier-ignore
    deepEqual(
      plan.routes.map(({ parents }) => parents.map(({ accepted }) => accepted.reason)),
      [['UnsupportedValue'], [], ['Accepted']],
    )
  })
})

test('a plan yields when its slice is used up, and does not build again what has not changed', () => {
  const caches = planCaches()
  const gateways = [gatewayOf('gateway', [listener('a'), listener('b', { port: 81 })])]
  const routes = [httpRouteOf('r1'), httpRouteOf('r2')]
  const sources = sourcesOf()
  let yields = -1
  const steps = planGateways(gateways, routes, [], sources, caches, { isUsedUp: () => true })
  do yields++
  while (steps.next().done !== true)
  equal(yields >= gateways.length + 2 * routes.length + 2, true)
  const again = () => runToEnd((slice) => planGateways(gateways, routes, [], sources, caches, slice))
  const first = again()
  const second = again()
  deepEqual(
    first.routes.map(({ compiled }, index) => compiled === second.routes[index]?.compiled),
    [true, true],
  )
})
