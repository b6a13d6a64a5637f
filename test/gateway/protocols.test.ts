// Protocols of Gateways other than HTTP/1.1 to the endpoint: HTTP/2, WebSocket and gRPC.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type ServerHttp2Stream } from 'node:http2'
import { createConnection, type AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { grpcRoute } from '../../src/gateway/kinds/route-kinds.ts'
import { startBackend } from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'
import { startStage, to, type Stage } from './gateway.harness.ts'

const securedPort = 2008
let stage: Stage
/** A server that speaks only HTTP/2; it responds with its name. */
const startH2c = async (name: string, appProtocol?: string) => {
  const server = createServer()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'x-endpoint': name }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await stage.addService(name, 'default', (server.address() as AddressInfo).port, appProtocol)
  stage.cleanUps.defer(() => void server.close())
}

before(async () => {
  stage = await startStage()
  for (const name of ['grpc-one', 'grpc-two']) await startH2c(name)
})
after(() => stage[Symbol.asyncDispose]())

test('HTTPRouteBackendProtocolH2C', async () => {
  await startH2c('h2c', 'kubernetes.io/h2c')
  await stage.addSimple('h2c', 2001, [{ backendRefs: [to('h2c')] }])
  const { status, headers } = await stage.get(2001)
  deepEqual([status, headers['x-endpoint']], [200, 'h2c'])
})

test('HTTPRouteBackendProtocolWebSocket', async () => {
  const server = stage.cleanUps.use(await startBackend(() => {}))
  server.server.on('upgrade', (_incoming, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  await stage.addService('ws', 'default', server.port, 'kubernetes.io/ws')
  await stage.addSimple('ws', 2002, [{ backendRefs: [to('ws')] }])
  const { host, port } = await stage.placeOf(2002)
  const socket = createConnection(port, host)
  socket.write('GET / HTTP/1.1\r\nhost: a.example.com\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
  let received = ''
  socket.on('data', (piece: Buffer) => (received += piece.toString()))
  await until(() => received.includes('\r\n\r\n'))
  match(received, /^HTTP\/1.1 101 /)
  socket.write('hello')
  await until(() => received.endsWith('hello'))
  socket.destroy()
})

suite('GRPCRoute', () => {
  /** The endpoint that responds, or the status. */
  const call = async (port: number, path: string, host = 'a.example.com', headers: Record<string, string> = {}) => {
    const scheme = port === securedPort ? 'https' : 'http'
    const place = await stage.placeOf(port)
    const session = connect(`${scheme}://${place.host}:${place.port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':method': 'POST', ':path': path, ':authority': host, te: 'trailers', ...headers })
    stream.end()
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    stream.resume()
    await once(stream, 'end')
    session.close()
    return String(head['x-endpoint'] ?? head[':status'])
  }
  const accepted = (name: string) =>
    until(async () => {
      const { status } = await stage.client.of(grpcRoute).get(name)
      return (
        status?.parents[0]?.conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True') ?? false
      )
    })
  test('GRPCExactMethodMatching', async () => {
    await stage.addGateway('methods', [stage.http(2003)])
    await stage.addGrpcRoute('methods', {
      parentRefs: [{ name: 'methods' }],
      rules: [
        { matches: [{ method: { service: 'echo.Echo', method: 'Call' } }], backendRefs: [to('grpc-one')] },
        { matches: [{ method: { service: 'echo.Echo' } }], backendRefs: [to('grpc-two')] },
      ],
    })
    await accepted('methods')
    const found = [await call(2003, '/echo.Echo/Call'), await call(2003, '/echo.Echo/Other'), await call(2003, '/x/Y')]
    deepEqual(found, ['grpc-one', 'grpc-two', '404'])
  })

  test('GRPCRouteHeaderMatching', async () => {
    await stage.addGateway('metadata', [stage.http(2004)])
    const rule = (value: string, name: string) => ({
      matches: [{ headers: [{ name: 'Version', value }] }],
      backendRefs: [to(name)],
    })
    await stage.addGrpcRoute('metadata', {
      parentRefs: [{ name: 'metadata' }],
      rules: [rule('one', 'grpc-one'), rule('two', 'grpc-two')],
    })
    await accepted('metadata')
    const send = (version: string) => call(2004, '/a/B', undefined, { version })
    deepEqual([await send('one'), await send('two'), await send('three')], ['grpc-one', 'grpc-two', '404'])
  })

  test('GRPCRouteListenerHostnameMatching', async () => {
    await stage.addGateway('grpc-hosts', [
      stage.http(2005, { name: 'bar', hostname: 'bar.com' }),
      stage.http(2005, { name: 'any', hostname: '*.bar.com' }),
    ])
    for (const [section, name] of [
      ['bar', 'grpc-one'],
      ['any', 'grpc-two'],
    ] as const)
      // prettier-ignore
      await stage.addGrpcRoute(name, {
        parentRefs: [{ name: 'grpc-hosts', sectionName: section }],
        rules: [{ backendRefs: [to(name)] }],
      })
    await accepted('grpc-two')
    const hosts = ['bar.com', 'x.y.bar.com', 'foo.com']
    deepEqual(await Promise.all(hosts.map((host) => call(2005, '/a/B', host))), ['grpc-one', 'grpc-two', '404'])
  })

  test('GRPCRouteNamedRule', async () => {
    await stage.addGateway('named', [stage.http(2006)])
    await stage.addGrpcRoute('named', {
      parentRefs: [{ name: 'named' }],
      rules: [
        { name: 'one', matches: [{ method: { service: 'a.One' } }], backendRefs: [to('grpc-one')] },
        { name: 'two', matches: [{ method: { service: 'a.Two' } }], backendRefs: [to('grpc-two')] },
      ],
    })
    await accepted('named')
    deepEqual([await call(2006, '/a.One/B'), await call(2006, '/a.Two/B')], ['grpc-one', 'grpc-two'])
  })

  test('GRPCRouteWeight', async () => {
    await stage.addGateway('grpc-weights', [stage.http(2007)])
    await stage.addGrpcRoute('grpc-weights', {
      parentRefs: [{ name: 'grpc-weights' }],
      rules: [{ backendRefs: [to('grpc-one', { weight: 70 }), to('grpc-two', { weight: 30 })] }],
    })
    await accepted('grpc-weights')
    const found = new Map<string, number>()
    for (let count = 0; count < 60; count++) {
      const name = await call(2007, '/a/B')
      found.set(name, (found.get(name) ?? 0) + 1)
    }
    // The chance that either gets fewer than 4 of 60 is less than 1 in 10,000.
    deepEqual([...found.keys()].toSorted(), ['grpc-one', 'grpc-two'])
    ok(
      [...found.values()].every((count) => count >= 4),
      JSON.stringify([...found]),
    )
  })

  test('a GRPCRoute over HTTPS', async () => {
    await stage.addSecret('grpc-tls', 'default', 'a.example.com')
    await stage.addGateway('secured', [
      { name: 's', port: securedPort, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'grpc-tls' }] } },
    ])
    await stage.addGrpcRoute('secured', {
      parentRefs: [{ name: 'secured' }],
      rules: [{ backendRefs: [to('grpc-one')] }],
    })
    await accepted('secured')
    equal(await call(securedPort, '/a/B'), 'grpc-one')
  })
})
