// Gateways: each test has the name of a conformance test of the Gateway API, and checks the behaviour that it is about.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gateway, gatewayClass, referenceGrant } from '../../src/gateway/kinds/gateway-kinds.ts'
import { httpRoute, type PathModifier } from '../../src/gateway/kinds/route-kinds.ts'
import { startBackend } from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'
import { authority, startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
before(async () => (stage = await startStage()))
after(() => stage[Symbol.asyncDispose]())

const https = (port: number, certificate: object, more: object = {}) => ({
  name: `https-${port}`,
  port,
  protocol: 'HTTPS',
  tls: { certificateRefs: [{ name: 'missing', ...certificate }] },
  ...more,
})

suite('GatewayClass', () => {
  const conditionsOf = async () => (await stage.client.of(gatewayClass).get('coxswain')).status?.conditions ?? []

  test('GatewayClassSupportedVersionCondition', async () => {
    await until(async () => (await conditionsOf()).some(({ type }) => type === 'SupportedVersion'))
    const known = (await conditionsOf()).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    deepEqual(known, ['Accepted=True Accepted', 'SupportedVersion=True SupportedVersion'])
    const { status } = await stage.client.of(gatewayClass).get('coxswain')
    ok(status?.supportedFeatures?.some(({ name }) => name === 'HTTPRouteQueryParamMatching'))
  })

  test('GatewayClassObservedGenerationBump', async () => {
    const { metadata } = await stage.client.of(gatewayClass).modify('coxswain', (object) => {
      object.spec.description = 'changed'
    })
    await until(async () => (await conditionsOf()).every((each) => each.observedGeneration === metadata.generation))
  })
})

suite('Gateway', () => {
  test('GatewayModifyListeners', async () => {
    const { addGateway, http, gatewayCondition, listenerCondition, client, get } = stage
    await addGateway('modified', [http(1001)])
    await gatewayCondition('modified', 'Programmed', 'True')
    equal((await get(1001)).status, 404)
    await client
      .of(gateway)
      .modify('modified', (object) => void object.spec.listeners.push({ name: 'added', port: 1002, protocol: 'HTTP' }))
    await listenerCondition('modified', 'Programmed', 'True', 1)
    equal((await get(1002)).status, 404)
    await client.of(gateway).modify('modified', (object) => void object.spec.listeners.shift())
    await until(async () => (await client.of(gateway).get('modified')).status?.listeners?.length === 1)
  })

  test('GatewayObservedGenerationBump', async () => {
    const { addGateway, http, gatewayCondition, client } = stage
    await addGateway('bumped', [http(1003)])
    await gatewayCondition('bumped', 'Accepted', 'True')
    await client
      .of(gateway)
      .modify('bumped', (object) => void object.spec.listeners.push({ name: 'added', port: 1004, protocol: 'HTTP' }))
    for (const type of ['Accepted', 'Programmed']) await gatewayCondition('bumped', type, 'True')
  })

  test('GatewayInvalidRouteKind', async () => {
    const { addGateway, http, listenerCondition, listenerStatus } = stage
    const allowing = (...kinds: string[]) => ({ allowedRoutes: { kinds: kinds.map((kind) => ({ kind })) } })
    await addGateway('kinds', [http(1005, allowing('InvalidRoute')), http(1006, allowing('InvalidRoute', 'HTTPRoute'))])
    for (const index of [0, 1])
      equal((await listenerCondition('kinds', 'ResolvedRefs', 'False', index))?.reason, 'InvalidRouteKinds')
    deepEqual((await listenerStatus('kinds', 0))?.supportedKinds, [])
    deepEqual((await listenerStatus('kinds', 1))?.supportedKinds?.map(({ kind }) => kind), ['HTTPRoute']) // prettier-ignore
  })

  test('GatewayInvalidTLSConfiguration', async () => {
    const { addGateway, listenerCondition } = stage
    const invalid = [{}, { group: 'wrong' }, { kind: 'ConfigMap' }]
    for (const [index, ref] of invalid.entries()) {
      await addGateway(`tls-${index}`, [https(1010 + index, ref)])
      equal((await listenerCondition(`tls-${index}`, 'ResolvedRefs', 'False'))?.reason, 'InvalidCertificateRef')
      equal((await listenerCondition(`tls-${index}`, 'Programmed', 'False'))?.reason, 'Invalid')
    }
  })

  test('GatewaySecretMissingReferenceGrant', async () => {
    const { addGateway, addSecret, listenerCondition } = stage
    await addSecret('tls', 'other', 'a.example.com')
    await addGateway('no-grant', [https(1020, { name: 'tls', namespace: 'other' })])
    equal((await listenerCondition('no-grant', 'ResolvedRefs', 'False'))?.reason, 'RefNotPermitted')
  })

  test('GatewaySecretInvalidReferenceGrant', async () => {
    const { addGateway, addGrant, listenerCondition } = stage
    await addGrant('wrong-kind', 'other', 'HTTPRoute', { kind: 'Secret' })
    await addGrant('wrong-name', 'other', 'Gateway', { kind: 'Secret', name: 'unknown' })
    await addGateway('wrong-grant', [https(1021, { name: 'tls', namespace: 'other' })])
    equal((await listenerCondition('wrong-grant', 'ResolvedRefs', 'False'))?.reason, 'RefNotPermitted')
  })

  for (const [name, target] of [
    ['GatewaySecretReferenceGrantSpecific', { kind: 'Secret', name: 'tls' }],
    ['GatewaySecretReferenceGrantAllInNamespace', { kind: 'Secret' }],
  ] as const)
    test(name, async () => {
      const { addGateway, addGrant, listenerCondition } = stage
      const id = name.toLowerCase()
      await addGrant(id, 'other', 'Gateway', target)
      await addGateway(id, [https('name' in target ? 1022 : 1023, { name: 'tls', namespace: 'other' })])
      await listenerCondition(id, 'ResolvedRefs', 'True')
      await listenerCondition(id, 'Programmed', 'True')
      await stage.client.of(referenceGrant).delete(id, 'other')
      equal((await listenerCondition(id, 'Programmed', 'False'))?.reason, 'Invalid')
    })

  test('GatewayWithAttachedRoutes', async () => {
    const { addGateway, addRoute, http, listenerStatus } = stage
    await addGateway('counted', [http(1030), https(1031, {}, { hostname: 'none.example.com' })])
    for (const name of ['counted-1', 'counted-2'])
      await addRoute(name, { parentRefs: [{ name: 'counted' }], rules: [{ backendRefs: [to('one')] }] })
    for (const index of [0, 1]) await until(async () => (await listenerStatus('counted', index))?.attachedRoutes === 2)
  })

  test('GatewayWithAttachedRoutesWithPort8080', async () => {
    const { addSimple, served } = stage
    await addSimple('port-8080', 8080, [{ backendRefs: [to('one')] }])
    equal(await served(8080), 'one')
  })

  test('GatewayStaticAddresses', async () => {
    const { addGateway, http, gatewayCondition, client } = stage
    const addresses = [
      { type: 'example.com/invalid', value: 'x' },
      { type: 'IPAddress', value: '192.0.2.77' },
      { type: 'IPAddress', value: '127.0.0.1' },
    ]
    await addGateway('static', [http(1032)], { addresses })
    equal((await gatewayCondition('static', 'Accepted', 'False'))?.reason, 'UnsupportedAddress')
    const dropFirst = () => client.of(gateway).modify('static', (object) => void object.spec.addresses?.shift())
    await dropFirst()
    await gatewayCondition('static', 'Accepted', 'True')
    equal((await gatewayCondition('static', 'Programmed', 'False'))?.reason, 'AddressNotUsable')
    await dropFirst()
    await gatewayCondition('static', 'Programmed', 'True')
    const { status } = await client.of(gateway).get('static')
    deepEqual(status?.addresses, [{ type: 'IPAddress', value: '127.0.0.1' }])
  })

  test('GatewayOptionalAddressValue', async () => {
    const { addGateway, http, gatewayCondition, client } = stage
    await addGateway('any-address', [http(1033)], { addresses: [{ type: 'IPAddress' }] })
    await gatewayCondition('any-address', 'Programmed', 'True')
    const { status } = await client.of(gateway).get('any-address')
    match(status?.addresses?.[0]?.value ?? '', /^127\.0\.0\.\d+$/)
  })

  test('GatewayHTTPListenerIsolation', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    const hostnames = { empty: undefined, wildcard: '*.example.com', exact: 'abc.foo.example.com' }
    await addGateway(
      'isolated',
      Object.entries(hostnames).map(([name, hostname]) => http(1034, { name, ...(hostname && { hostname }) })),
    )
    for (const sectionName of Object.keys(hostnames)) {
      const value = `/${sectionName}`
      await addRoute(`isolated-${sectionName}`, {
        parentRefs: [{ name: 'isolated', sectionName }],
        rules: [{ matches: [{ path: { type: 'PathPrefix', value } }], backendRefs: [to('one')] }],
      })
      await routeCondition(`isolated-${sectionName}`, 'Accepted', 'True')
    }
    const hosts = { empty: 'bar.com', wildcard: 'bar.example.com', exact: 'abc.foo.example.com' }
    for (const [own, host] of Object.entries(hosts))
      for (const path of Object.keys(hosts))
        equal(await served(1034, `/${path}`, { host }), path === own ? 'one' : '404', `${host}/${path}`)
  })

  test('Gateways with the same port and hostname have addresses of their own', async () => {
    const { addGateway, addRoute, http, gatewayCondition, routeCondition, served, client } = stage
    const names = ['base-same', 'base-all', 'base-selector']
    for (const name of names) await addGateway(name, [http(80)])
    for (const [index, name] of names.entries()) {
      await gatewayCondition(name, 'Programmed', 'True')
      const backendRefs = index === 2 ? [] : [to(index === 0 ? 'one' : 'two')]
      await addRoute(name, { parentRefs: [{ name }], rules: [{ backendRefs }] })
      await routeCondition(name, 'Accepted', 'True')
    }
    const found = await Promise.all(names.map((name) => client.of(gateway).get(name)))
    const addresses = found.map(({ status }) => (status?.addresses ?? []).map(({ value }) => value).join())
    equal(new Set(addresses).size, 3)
    deepEqual(await Promise.all(names.map((name) => served(80, '/', { gateway: name }))), ['one', 'two', '500'])
  })

  test('a port and hostname of an older Gateway is not available to another', async () => {
    const { addGateway, http, gatewayCondition, listenerCondition } = stage
    const addresses = [{ type: 'IPAddress', value: '127.0.0.200' }]
    await addGateway('first', [http(1035)], { addresses })
    await gatewayCondition('first', 'Programmed', 'True')
    await addGateway('second', [http(1035)], { addresses })
    equal((await listenerCondition('second', 'Accepted', 'False'))?.reason, 'PortUnavailable')
    equal((await gatewayCondition('second', 'Accepted', 'False'))?.reason, 'ListenersNotValid')
  })
})

suite('HTTPRoute status', () => {
  test('HTTPRouteInvalidBackendRefUnknownKind', async () => {
    const { addSimple, routeCondition, get } = stage
    await addSimple('unknown-kind', 1101, [
      { backendRefs: [{ name: 'one', port: 80, group: 'x.io', kind: 'Unknown' }] },
    ])
    equal((await routeCondition('unknown-kind', 'ResolvedRefs', 'False'))?.reason, 'InvalidKind')
    equal((await get(1101)).status, 500)
  })

  test('HTTPRouteInvalidNonExistentBackendRef', async () => {
    const { addSimple, routeCondition, get } = stage
    await addSimple('no-service', 1102, [{ backendRefs: [to('gone')] }])
    equal((await routeCondition('no-service', 'ResolvedRefs', 'False'))?.reason, 'BackendNotFound')
    equal((await get(1102)).status, 500)
  })

  test('HTTPRouteInvalidCrossNamespaceBackendRef', async () => {
    const { addSimple, routeCondition, get } = stage
    await addSimple('foreign', 1103, [{ backendRefs: [to('three', { namespace: 'other' })] }])
    equal((await routeCondition('foreign', 'ResolvedRefs', 'False'))?.reason, 'RefNotPermitted')
    equal((await get(1103)).status, 500)
  })

  const notAccepted = [
    ['HTTPRouteInvalidParentRefNotMatchingSectionName', { sectionName: 'unknown' }, 'NoMatchingParent'],
    ['HTTPRouteInvalidParentRefNotMatchingListenerPort', { port: 81 }, 'NoMatchingParent'],
    ['HTTPRouteInvalidParentRefSectionNameNotMatchingPort', { sectionName: 'http-1104', port: 81 }, 'NoMatchingParent'],
  ] as const
  for (const [name, ref, reason] of notAccepted)
    test(name, async () => {
      const { addGateway, addRoute, http, routeCondition, client } = stage
      if ((await client.of(gateway).find('parent')) === undefined) await addGateway('parent', [http(1104)])
      const id = name.toLowerCase()
      await addRoute(id, { parentRefs: [{ name: 'parent', ...ref }], rules: [{ backendRefs: [to('one')] }] })
      equal((await routeCondition(id, 'Accepted', 'False'))?.reason, reason)
    })

  test('HTTPRouteInvalidCrossNamespaceParentRef', async () => {
    const { addGateway, addRoute, http, routeCondition, listenerStatus } = stage
    await addGateway('same-only', [http(1105)])
    await addRoute('abroad', { parentRefs: [{ name: 'same-only', namespace: 'default' }] }, 'other')
    equal((await routeCondition('abroad', 'Accepted', 'False', 'other'))?.reason, 'NotAllowedByListeners')
    await until(async () => (await listenerStatus('same-only'))?.attachedRoutes === 0)
  })

  test('HTTPRouteDisallowedKind', async () => {
    const { addGateway, addRoute, http, routeCondition } = stage
    await addGateway('grpc-only', [http(1106, { allowedRoutes: { kinds: [{ kind: 'GRPCRoute' }] } })])
    await addRoute('disallowed', { parentRefs: [{ name: 'grpc-only' }] })
    equal((await routeCondition('disallowed', 'Accepted', 'False'))?.reason, 'NotAllowedByListeners')
  })

  test('HTTPRouteHostnameIntersection', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    await addGateway('hosts', [http(1107, { hostname: '*.specific.com' })])
    const parentRefs = [{ name: 'hosts' }]
    const rules = [{ backendRefs: [to('one')] }]
    await addRoute('hosts-common', { parentRefs, hostnames: ['x.specific.com', 'x.wrong.com'], rules })
    await routeCondition('hosts-common', 'Accepted', 'True')
    await addRoute('hosts-none', { parentRefs, hostnames: ['x.wrong.com'], rules })
    equal((await routeCondition('hosts-none', 'Accepted', 'False'))?.reason, 'NoMatchingListenerHostname')
    deepEqual(
      [await served(1107, '/', { host: 'x.specific.com' }), await served(1107, '/', { host: 'x.wrong.com' })],
      ['one', '404'],
    )
  })

  test('HTTPRouteObservedGenerationBump', async () => {
    const { addSimple, routeCondition, client } = stage
    await addSimple('route-bumped', 1108, [{ backendRefs: [to('one')] }])
    await client.of(httpRoute).modify('route-bumped', (object) => {
      object.spec.hostnames = ['a.example.com']
    })
    for (const type of ['Accepted', 'ResolvedRefs']) await routeCondition('route-bumped', type, 'True')
  })

  test('HTTPRouteReferenceGrant', async () => {
    const { addSimple, addGrant, routeCondition, served, client } = stage
    await addGrant('to-services', 'other', 'HTTPRoute', { kind: 'Service', name: 'three' })
    await addSimple('granted', 1109, [{ backendRefs: [to('three', { namespace: 'other' })] }])
    await routeCondition('granted', 'ResolvedRefs', 'True')
    equal(await served(1109), 'three')
    await client.of(referenceGrant).delete('to-services', 'other')
    await routeCondition('granted', 'ResolvedRefs', 'False')
    equal(await served(1109), '500')
  })

  for (const name of ['HTTPRouteInvalidReferenceGrant', 'HTTPRoutePartiallyInvalidViaInvalidReferenceGrant'])
    test(name, async () => {
      const { addSimple, addGrant, routeCondition, served } = stage
      const id = name.toLowerCase()
      const port = name.includes('Partially') ? 1111 : 1110
      await addGrant(id, 'other', 'HTTPRoute', { kind: 'Service', name: 'unknown' })
      const path = (value: string) => [{ path: { type: 'PathPrefix', value } }]
      await addSimple(id, port, [
        { matches: path('/v2'), backendRefs: [to('three', { namespace: 'other' })] },
        ...(port === 1111 ? [{ matches: path('/'), backendRefs: [to('one')] }] : []),
      ])
      equal((await routeCondition(id, 'ResolvedRefs', 'False'))?.reason, 'RefNotPermitted')
      deepEqual([await served(port, '/v2'), await served(port, '/')], ['500', port === 1111 ? 'one' : '404'])
    })

  test('a rule with a value that is not supported is left out, or the route is rejected', async () => {
    const { addSimple, addRoute, routeCondition, served } = stage
    const regular = { matches: [{ path: { type: 'RegularExpression', value: '/x(' } }], backendRefs: [to('two')] }
    await addSimple('partly', 1112, [{ backendRefs: [to('one')] }, regular])
    const condition = await routeCondition('partly', 'PartiallyInvalid', 'True')
    match(condition?.message ?? '', /^Dropped Rule 1: a regular expression is not valid/)
    equal(await served(1112, '/xy'), 'one')
    await addRoute('regular', { parentRefs: [{ name: 'partly' }], rules: [regular] })
    equal((await routeCondition('regular', 'Accepted', 'False'))?.reason, 'UnsupportedValue')
  })
})

suite('HTTPRoute traffic', () => {
  const path = (value: string, type = 'PathPrefix') => ({ path: { type, value } })
  const header = (name: string, value: string) => ({ headers: [{ name, value }] })
  type Rules = Parameters<Stage['addSimple']>[2]
  type Options = NonNullable<Parameters<Stage['get']>[2]>
  const one = (...matches: object[]) => ({ matches, backendRefs: [to('one')] })
  const two = (...matches: object[]) => ({ matches, backendRefs: [to('two')] })

  const cases: Readonly<Record<string, readonly [Rules, readonly (readonly [string, Options, string])[]]>> = {
    HTTPRouteSimpleSameNamespace: [[{ backendRefs: [to('one')] }], [['/', {}, 'one']]],
    HTTPRouteExactPathMatching: [
      [one(path('/one', 'Exact')), two(path('/two', 'Exact'))],
      [
        ['/one', {}, 'one'],
        ['/two', {}, 'two'],
        ['/one/', {}, '404'],
        ['/ONE', {}, '404'],
        ['/', {}, '404'],
      ],
    ],
    HTTPRouteMatching: [
      [one(path('/')), two(path('/v2'), header('version', 'two'))],
      [
        ['/', {}, 'one'],
        ['/v2/x', {}, 'two'],
        ['/v2example', {}, 'one'],
        ['/', { headers: { version: 'two' } }, 'two'],
        ['/', { headers: { Version: 'two' } }, 'two'],
      ],
    ],
    HTTPRouteHeaderMatching: [
      [
        one(header('version', 'one')),
        two({
          headers: [
            { name: 'version', value: 'two' },
            { name: 'color', value: 'blue' },
          ],
        }),
      ],
      [
        ['/', { headers: { version: 'one' } }, 'one'],
        ['/', { headers: { version: 'two', color: 'blue' } }, 'two'],
        ['/', { headers: { version: 'two' } }, '404'],
      ],
    ],
    HTTPRoutePathMatchOrder: [
      [one(path('/match')), two(path('/match/prefix')), one(path('/match/prefix', 'Exact'))],
      [
        ['/match', {}, 'one'],
        ['/match/prefix', {}, 'one'],
        ['/match/prefix/x', {}, 'two'],
      ],
    ],
    HTTPRouteMethodMatching: [
      [one({ method: 'POST' }), two({ method: 'GET' })],
      [
        ['/', { method: 'POST' }, 'one'],
        ['/', {}, 'two'],
        ['/', { method: 'DELETE' }, '404'],
      ],
    ],
    HTTPRouteQueryParamMatching: [
      [
        one({ queryParams: [{ name: 'animal', value: 'whale' }] }),
        two({ queryParams: [{ name: 'animal', value: 'dolphin' }] }),
      ],
      [
        ['/?animal=whale', {}, 'one'],
        ['/?animal=dolphin&x=1', {}, 'two'],
        ['/?animal=shark', {}, '404'],
      ],
    ],
    HTTPRouteNamedRule: [[{ name: 'named', ...one(path('/named')) }], [['/named', {}, 'one']]],
    'a Service without endpoints': [[{ backendRefs: [to('empty')] }], [['/', {}, '503']]],
    HTTPRouteTimeoutRequest: [[{ timeouts: { request: '100ms' }, backendRefs: [to('slow')] }], [['/', {}, '504']]],
    HTTPRouteTimeoutBackendRequest: [
      [{ timeouts: { backendRequest: '100ms' }, backendRefs: [to('slow')] }],
      [['/', {}, '504']],
    ],
  }
  let port = 1200
  for (const [name, [rules, requests]] of Object.entries(cases)) {
    const own = ++port
    test(name, async () => {
      await stage.addSimple(`traffic-${own}`, own, rules)
      for (const [target, options, expected] of requests)
        equal(await stage.served(own, target, options), expected, target)
    })
  }

  const redirects: Readonly<Record<string, readonly [object, string, number, string]>> = {
    HTTPRouteRedirectHostAndStatus: [{ hostname: 'b.org', statusCode: 301 }, '/x', 301, 'http://b.org:PORT/x'],
    HTTPRouteRedirectPath: [
      { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } },
      '/x/y?z=1',
      302,
      'http://a.example.com:PORT/new/y?z=1',
    ],
    HTTPRouteRedirectPort: [{ port: 8083 }, '/x', 302, 'http://a.example.com:8083/x'],
    HTTPRouteRedirectScheme: [{ scheme: 'https' }, '/x', 302, 'https://a.example.com/x'],
    HTTPRouteRedirectPortAndScheme: [{ scheme: 'https', port: 8443 }, '/x', 302, 'https://a.example.com:8443/x'],
    HTTPRoute303Redirect: [{ statusCode: 303 }, '/x', 303, 'http://a.example.com:PORT/x'],
    HTTPRoute307Redirect: [{ statusCode: 307 }, '/x', 307, 'http://a.example.com:PORT/x'],
    HTTPRoute308Redirect: [{ statusCode: 308 }, '/x', 308, 'http://a.example.com:PORT/x'],
  }
  for (const [name, [requestRedirect, target, status, location]] of Object.entries(redirects)) {
    const own = ++port
    test(name, async () => {
      const filters = [{ type: 'RequestRedirect', requestRedirect }]
      await stage.addSimple(`redirect-${own}`, own, [{ matches: [path('/x')], filters }])
      const found = await stage.get(own, target)
      deepEqual([found.status, found.headers.location], [status, location.replace('PORT', String(own))])
    })
  }

  const modifier = { set: [{ name: 'X-Set', value: 's' }], add: [{ name: 'X-Add', value: 'a' }], remove: ['X-Remove'] }
  const sent = { headers: { 'x-set': 'old', 'x-add': 'old', 'x-remove': 'old' } }

  for (const name of ['HTTPRouteRequestHeaderModifier', 'HTTPRouteBackendRequestHeaderModifier']) {
    const own = ++port
    test(name, async () => {
      const filters = [{ type: 'RequestHeaderModifier', requestHeaderModifier: modifier }]
      const isBackend = name.includes('Backend')
      const rule = isBackend ? { backendRefs: [to('one', { filters })] } : { filters, backendRefs: [to('one')] }
      await stage.addSimple(`headers-${own}`, own, [rule])
      const { headers } = await stage.echoed(own, '/', sent)
      deepEqual([headers['x-set'], headers['x-add'], headers['x-remove']], ['s', 'old, a', undefined])
    })
  }

  test('HTTPRouteResponseHeaderModifier', async () => {
    const filters = [
      {
        type: 'ResponseHeaderModifier',
        responseHeaderModifier: { set: [{ name: 'X-Set', value: 's' }], remove: ['X-Endpoint'] },
      },
    ]
    await stage.addSimple('response-headers', 1301, [{ filters, backendRefs: [to('one')] }])
    const { headers } = await stage.get(1301)
    deepEqual([headers['x-set'], headers['x-endpoint']], ['s', undefined])
  })

  test('filters cannot change the framing, the host or the connection of messages', async () => {
    const value = (name: string) => ({ set: [{ name, value: 'chunked' }] })
    const request = (name: string) => [{ type: 'RequestHeaderModifier', requestHeaderModifier: value(name) }]
    const response = [{ type: 'ResponseHeaderModifier', responseHeaderModifier: value('Content-Length') }]
    await stage.addSimple('framing', 1311, [
      { matches: [path('/plain')], backendRefs: [to('one')] },
      { matches: [path('/framing')], filters: request('Transfer-Encoding'), backendRefs: [to('one')] },
      { matches: [path('/host')], backendRefs: [to('one', { filters: request('Host') })] },
      { matches: [path('/response')], filters: response, backendRefs: [to('one')] },
    ])
    const statuses: number[] = []
    for (const place of ['/plain', '/framing', '/host', '/response'])
      statuses.push((await stage.get(1311, place)).status)
    deepEqual(statuses, [200, 404, 404, 404])
  })

  test('HTTPRouteRewriteHost', async () => {
    const filters = [{ type: 'URLRewrite', urlRewrite: { hostname: 'inner.example.org' } }]
    await stage.addSimple('rewrite-host', 1302, [{ filters, backendRefs: [to('one')] }])
    equal((await stage.echoed(1302)).headers['host'], 'inner.example.org')
  })

  test('HTTPRouteRewritePath', async () => {
    const filters = (change: PathModifier) => [{ type: 'URLRewrite', urlRewrite: { path: change } }]
    const full = filters({ type: 'ReplaceFullPath', replaceFullPath: '/one' })
    const prefix = filters({ type: 'ReplacePrefixMatch', replacePrefixMatch: '/' })
    await stage.addSimple('rewrite-path', 1303, [
      { matches: [path('/full')], filters: full, backendRefs: [to('one')] },
      { matches: [path('/prefix')], filters: prefix, backendRefs: [to('one')] },
    ])
    deepEqual(
      [
        (await stage.echoed(1303, '/full/x')).url,
        (await stage.echoed(1303, '/prefix/x')).url,
        (await stage.echoed(1303, '/prefix')).url,
      ],
      ['/one', '/x', '/'],
    )
  })

  suite('mirrors', () => {
    const mirror = (name: string, more: object = {}) => ({
      type: 'RequestMirror',
      requestMirror: { backendRef: to(name), ...more },
    })
    /** Services that note what they receive. */
    const addMirror = async (name: string) => {
      const received: string[] = []
      const server = stage.cleanUps.use(
        await startBackend((incoming, outgoing) => {
          let body = ''
          incoming.on('data', (piece: Buffer) => (body += piece.toString()))
          incoming.on('end', () => {
            received.push(`${incoming.method} ${incoming.url} ${body}`)
            outgoing.end('not forwarded')
          })
        }),
      )
      await stage.addService(name, 'default', server.port)
      return received
    }

    test('HTTPRouteRequestMirror', async () => {
      const received = await addMirror('mirror')
      await stage.addSimple('mirror', 1330, [{ filters: [mirror('mirror')], backendRefs: [to('one')] }])
      equal(await stage.served(1330, '/a?b'), 'one')
      equal(await stage.served(1330, '/c', { method: 'POST', body: 'hello' }), 'one')
      await until(() => received.length === 2)
      deepEqual(received.toSorted(), ['GET /a?b ', 'POST /c hello'])
    })

    test('HTTPRouteRequestMultipleMirrors', async () => {
      const all = [await addMirror('mirror-1'), await addMirror('mirror-2')]
      const filters = [mirror('mirror-1'), mirror('mirror-2')]
      await stage.addSimple('mirrors', 1331, [{ filters, backendRefs: [to('one')] }])
      equal(await stage.served(1331, '/', { method: 'POST', body: 'hello' }), 'one')
      await until(() => all.every((each) => each.length === 1))
      deepEqual(all, [['POST / hello'], ['POST / hello']])
    })

    test('HTTPRouteRequestPercentageMirror', async () => {
      const some = await addMirror('mirror-some')
      const none = await addMirror('mirror-none')
      const filters = [mirror('mirror-some', { percent: 50 }), mirror('mirror-none', { percent: 0 })]
      await stage.addSimple('percentage', 1332, [{ filters, backendRefs: [to('one')] }])
      const requests = 60
      for (let count = 0; count < requests; count++) equal(await stage.served(1332), 'one')
      await until(() => some.length > 0)
      // The chance that all or no requests are copied is 2^-59.
      deepEqual([some.length < requests, none.length], [true, 0])
    })
  })

  test('HTTPRouteWeight', async () => {
    await stage.addSimple('weights', 1304, [
      { backendRefs: [to('one', { weight: 70 }), to('two', { weight: 30 }), to('slow', { weight: 0 })] },
    ])
    const found = new Map<string, number>()
    for (let count = 0; count < 200; count++) {
      const name = await stage.served(1304)
      found.set(name, (found.get(name) ?? 0) + 1)
    }
    const [first = 0, second = 0] = [found.get('one'), found.get('two')]
    // With 200 requests the share of the first is between 50 and 90 percent, except once in a million runs.
    ok(first + second === 200 && first > 100 && first < 180, JSON.stringify([...found]))
  })

  test('HTTPRouteMatchingAcrossRoutes', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    await addGateway('across', [http(1305)])
    const parentRefs = [{ name: 'across' }]
    await addRoute('across-1', {
      parentRefs,
      hostnames: ['a.example.com'],
      rules: [one(path('/')), two(header('version', 'two'))],
    })
    await addRoute('across-2', { parentRefs, hostnames: ['a.example.com'], rules: [two(path('/v2'))] })
    await routeCondition('across-2', 'Accepted', 'True')
    deepEqual(
      [await served(1305), await served(1305, '/v2'), await served(1305, '/', { headers: { version: 'two' } })],
      ['one', 'two', 'two'],
    )
    equal(await served(1305, '/', { host: 'b.example.com' }), '404')
  })

  test('HTTPRouteListenerHostnameMatching', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    await addGateway('by-host', [
      http(1306, { name: 'bar', hostname: 'bar.com' }),
      http(1306, { name: 'any-bar', hostname: '*.bar.com' }),
    ])
    await addRoute('by-host-1', { parentRefs: [{ name: 'by-host', sectionName: 'bar' }], rules: [one(path('/'))] })
    await addRoute('by-host-2', { parentRefs: [{ name: 'by-host', sectionName: 'any-bar' }], rules: [two(path('/'))] })
    await routeCondition('by-host-2', 'Accepted', 'True')
    const hosts = ['bar.com', 'x.bar.com', 'x.y.bar.com', 'foo.com']
    deepEqual(await Promise.all(hosts.map((host) => served(1306, '/', { host }))), ['one', 'two', 'two', '404'])
  })

  test('HTTPRouteListenerPortMatching', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    await addGateway('by-port', [http(1307), http(1308)])
    for (const [name, own] of [
      ['one', 1307],
      ['two', 1308],
    ] as const) {
      // prettier-ignore
      await addRoute(`by-port-${name}`, { parentRefs: [{ name: 'by-port', port: own }], rules: [{ backendRefs: [to(name)] }] })
      await routeCondition(`by-port-${name}`, 'Accepted', 'True')
    }
    deepEqual([await served(1307), await served(1308)], ['one', 'two'])
  })

  test('HTTPRouteCrossNamespace', async () => {
    const { addGateway, addRoute, http, routeCondition, served } = stage
    const selector = { matchLabels: { team: 'blue' } }
    await addGateway('from-others', [http(1309, { allowedRoutes: { namespaces: { from: 'Selector', selector } } })])
    const parentRefs = [{ name: 'from-others', namespace: 'default' }]
    await addRoute('from-other', { parentRefs, rules: [{ backendRefs: [to('three')] }] }, 'other')
    await routeCondition('from-other', 'Accepted', 'True', 'other')
    equal(await served(1309), 'three')
  })

  test('HTTPRouteHTTPSListener', async () => {
    const { addGateway, addRoute, addSecret, listenerCondition, routeCondition, served } = stage
    await addSecret('own-tls', 'default', 'a.example.com')
    await addGateway('secure', [https(1310, { name: 'own-tls' }, { hostname: 'a.example.com' })])
    await addRoute('secure', { parentRefs: [{ name: 'secure' }], rules: [{ backendRefs: [to('one')] }] })
    await listenerCondition('secure', 'Programmed', 'True')
    await routeCondition('secure', 'Accepted', 'True')
    equal(await served(1310, '/', { ca: authority.certificate }), 'one')
  })
})
