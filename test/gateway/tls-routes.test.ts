// TLSRoutes: each test has the name of a conformance test of the Gateway API, and checks the behaviour that it is about, with
// servers that terminate TLS themselves.
import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { connect } from 'node:tls'
import { after, before, suite, test } from 'node:test'
import type { Listener } from '../../src/gateway/kinds/gateway-kinds.ts'
import { tlsRoute, type TlsRoute } from '../../src/gateway/kinds/route-kinds.ts'
import { startBackend } from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'
import { authority, startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
  await stage.addSecret('terminated', 'default', 'a.example.com')
  for (const name of ['tls-one', 'tls-two']) {
    const { certificate, key } = authority.issue({
      subject: { commonName: name, organizations: [] },
      uses: ['server'],
      dnsNames: ['*.example.com', 'a.example.org'],
    })
    const server = createServer({ cert: certificate, key }, (_, response) => response.end(name))
    await stage.addService(name, 'default', stage.cleanUps.use(await startBackend(() => {}, server)).port)
  }
})
after(() => stage[Symbol.asyncDispose]())

const tls = (port: number, more: Partial<Listener> = {}): Listener => ({
  name: `tls-${port}`,
  port,
  protocol: 'TLS',
  tls: { mode: 'Passthrough' },
  ...more,
})
const addRoute = (name: string, parent: string, hostnames: readonly string[], more: object = {}, service = 'tls-one') =>
  stage.client.of(tlsRoute).create({
    metadata: { name },
    spec: { parentRefs: [{ name: parent }], hostnames, rules: [{ backendRefs: [{ ...to(service), ...more }] }] },
  })
/** `Accepted ResolvedRefs` as reasons, once both are known. */
async function reasonsOf(name: string): Promise<string> {
  let route: TlsRoute | undefined
  await until(async () => {
    route = await stage.client.of(tlsRoute).get(name)
    return (route.status?.parents[0]?.conditions.length ?? 0) >= 2
  })
  const conditions = route?.status?.parents[0]?.conditions ?? []
  return ['Accepted', 'ResolvedRefs'].map((type) => conditions.find((each) => each.type === type)?.reason).join(' ')
}

/** The name of the server that terminates TLS, or how the connection ended. */
async function served(port: number, servername: string): Promise<string> {
  const place = await stage.placeOf(port)
  const socket = connect({ ...place, servername, ca: authority.certificate })
  try {
    await once(socket, 'secureConnect')
    socket.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`)
    let text = ''
    for await (const piece of socket as AsyncIterable<Buffer>) text += piece.toString()
    return text.split('\r\n').at(-1) ?? ''
  } catch (error) {
    return String((error as { readonly code?: string }).code)
  } finally {
    socket.destroy()
  }
}
const closed = 'ECONNRESET'
const terminated = { mode: 'Terminate', certificateRefs: [{ name: 'terminated' }] } as const

suite('TLSRoute', () => {
  test('TLSRouteSimpleSameNamespace', async () => {
    await stage.addGateway('simple', [tls(443, { hostname: 'a.example.com' })])
    await addRoute('simple', 'simple', ['a.example.com'])
    await stage.gatewayCondition('simple', 'Programmed', 'True')
    equal(await reasonsOf('simple'), 'Accepted ResolvedRefs')
    equal(await served(443, 'a.example.com'), 'tls-one')
    await until(async () => (await stage.listenerStatus('simple'))?.attachedRoutes === 1)
  })

  test('TLSRouteHostnameIntersection', async () => {
    await stage.addGateway('names', [
      tls(8001, { hostname: '*.example.com' }),
      tls(8002),
      tls(8003, { hostname: 'abc.example.com' }),
    ])
    await addRoute('exact', 'names', ['abc.example.com', 'a.example.org'])
    await addRoute('wide', 'names', ['*.example.com'], {}, 'tls-two')
    await stage.gatewayCondition('names', 'Programmed', 'True')
    for (const name of ['exact', 'wide']) equal(await reasonsOf(name), 'Accepted ResolvedRefs')
    const names = ['abc.example.com', 'other.example.com', 'a.example.org', 'b.example.org']
    const found = (port: number) => Promise.all(names.map((name) => served(port, name)))
    deepEqual(await found(8001), ['tls-one', 'tls-two', closed, closed])
    deepEqual(await found(8002), ['tls-one', 'tls-two', 'tls-one', closed])
    deepEqual(await found(8003), ['tls-one', closed, closed, closed])
  })

  for (const [name, more, reason] of [
    ['TLSRouteInvalidBackendRefNonexistent', { name: 'gone' }, 'BackendNotFound'],
    ['TLSRouteInvalidBackendRefUnknownKind', { group: 'example.com', kind: 'Unknown' }, 'InvalidKind'],
    ['TLSRouteInvalidReferenceGrant', { name: 'three', namespace: 'other' }, 'RefNotPermitted'],
  ] as const)
    test(name, async () => {
      const id = name.toLowerCase()
      const port = 8100 + name.length
      await stage.addGateway(id, [tls(port)])
      await addRoute(id, id, ['a.example.com'], more)
      await stage.gatewayCondition(id, 'Programmed', 'True')
      equal(await reasonsOf(id), `Accepted ${reason}`)
      equal(await served(port, 'a.example.com'), closed)
    })

  test('TLSRouteInvalidNoMatchingListenerHostname', async () => {
    await stage.addGateway('other-name', [tls(8004, { hostname: 'a.example.org' })])
    await addRoute('other-name', 'other-name', ['a.example.com'])
    equal((await reasonsOf('other-name')).split(' ')[0], 'NoMatchingListenerHostname')
    equal((await stage.listenerStatus('other-name'))?.attachedRoutes, 0)
  })

  test('TLSRouteInvalidNoMatchingListener', async () => {
    await stage.addGateway('plain', [stage.http(8005)])
    await addRoute('plain', 'plain', ['a.example.com'])
    equal((await reasonsOf('plain')).split(' ')[0], 'NotAllowedByListeners')
    equal((await stage.listenerStatus('plain'))?.attachedRoutes, 0)
  })

  test('TLSRouteListenerPassthroughSupportedKinds', async () => {
    const allowedRoutes = { kinds: [{ kind: 'TCPRoute' }, { kind: 'TLSRoute' }] }
    await stage.addGateway('kinds', [tls(8006, { allowedRoutes })])
    equal((await stage.listenerCondition('kinds', 'ResolvedRefs', 'False'))?.reason, 'InvalidRouteKinds')
    deepEqual(
      (await stage.listenerStatus('kinds'))?.supportedKinds?.map(({ kind }) => kind),
      ['TLSRoute'],
    )
  })

  test('TLSRouteListenerTerminateSupportedKinds', async () => {
    await stage.addGateway('terminated-kinds', [tls(8009, { tls: terminated })])
    await stage.listenerCondition('terminated-kinds', 'Accepted', 'True')
    deepEqual(
      (await stage.listenerStatus('terminated-kinds'))?.supportedKinds?.map(({ kind }) => kind),
      ['TLSRoute'],
    )
  })

  test('TLSRouteTerminateSimpleSameNamespace', async () => {
    await stage.addGateway('terminated', [tls(8007, { hostname: 'a.example.com', tls: terminated })])
    await addRoute('terminated', 'terminated', ['a.example.com'], {}, 'one')
    await stage.gatewayCondition('terminated', 'Programmed', 'True')
    equal(await reasonsOf('terminated'), 'Accepted ResolvedRefs')
    // The endpoint speaks HTTP without TLS.
    equal((JSON.parse(await served(8007, 'a.example.com')) as { service: string }).service, 'one')
    equal(await served(8007, 'b.example.com'), closed)
  })

  test('TLSRouteMixedTerminationSameNamespace', async () => {
    await stage.addGateway('mixed', [
      tls(8010, { name: 'terminated', hostname: 'a.example.com', tls: terminated }),
      tls(8010, { name: 'forwarded', hostname: 'b.example.com' }),
    ])
    await addRoute('mixed-terminated', 'mixed', ['a.example.com'], {}, 'one')
    await addRoute('mixed-forwarded', 'mixed', ['b.example.com'])
    await stage.gatewayCondition('mixed', 'Programmed', 'True')
    for (const name of ['mixed-terminated', 'mixed-forwarded']) equal(await reasonsOf(name), 'Accepted ResolvedRefs')
    equal((JSON.parse(await served(8010, 'a.example.com')) as { service: string }).service, 'one')
    equal(await served(8010, 'b.example.com'), 'tls-one')
  })

  test('a change of the route applies to the next connection', async () => {
    await stage.addGateway('changed', [tls(8008)])
    await addRoute('changed', 'changed', ['a.example.com'])
    await stage.gatewayCondition('changed', 'Programmed', 'True')
    equal(await served(8008, 'a.example.com'), 'tls-one')
    await stage.client.of(tlsRoute).modify('changed', (route) => {
      route.spec.rules = [{ backendRefs: [to('tls-two')] }]
    })
    await until(async () => (await served(8008, 'a.example.com')) === 'tls-two')
    await stage.client.of(tlsRoute).delete('changed')
    await until(async () => (await served(8008, 'a.example.com')) === closed)
  })
})
