// Ingress with real sockets: kubectl applies the objects, and requests reach servers of this process.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttp2Server, connect as connectHttp2, type ServerHttp2Stream } from 'node:http2'
import { Agent as PlainAgent, request as requestPlain } from 'node:http'
import { Agent, request } from 'node:https'
import { createConnection, type AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { after, before, suite, test } from 'node:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { event } from '../../src/api/core/v1/event.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { ingress } from '../../src/api/networking/v1/ingress.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'
import {
  addEndpoint,
  publishService,
  removeEndpoint,
  send,
  startBackend,
  startIngressCluster,
} from './ingress.harness.ts'

const authority = Authority.create('test', { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto })
const issue = (name: string) =>
  authority.issue({ subject: { commonName: name, organizations: [] }, uses: ['server'], dnsNames: [name] })
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** `COXSWAIN_LONG=1` sends as many requests as the target names. */
const isLong = process.env['COXSWAIN_LONG'] === '1'
const [requestsPerSecond, rollSeconds] = isLong ? [2_000, 20] : [200, 3]
const requestsPerRoll = requestsPerSecond / 4

const manifest = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web }
spec:
  tls: [{ hosts: [web.example.com], secretName: web-tls }]
  rules:
  - host: web.example.com
    http:
      paths:
      - { path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }
      - { path: /exact, pathType: Exact, backend: { service: { name: other, port: { name: web } } } }
      - { path: /empty, pathType: Prefix, backend: { service: { name: empty, port: { number: 80 } } } }
      - { path: /missing, pathType: Prefix, backend: { service: { name: missing, port: { number: 80 } } } }
  - host: grpc.example.com
    http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: grpc, port: { number: 80 } } } }] }
`

suite('Ingress', () => {
  let stage: Awaited<ReturnType<typeof startIngressCluster>>
  let web: Awaited<ReturnType<typeof startBackend>>
  const cleanUps = new AsyncDisposableStack()
  const hosted = (path: string, options: Parameters<typeof send>[3] = {}) =>
    send(stage.httpPort, 'web.example.com', path, options)

  before(async () => {
    stage = cleanUps.use(await startIngressCluster())
    web = cleanUps.use(
      await startBackend((incoming, outgoing) => {
        const pieces: Buffer[] = []
        incoming.on('data', (piece: Buffer) => pieces.push(piece))
        incoming.on('end', () => {
          const { method, url, headers } = incoming
          const bytes = Buffer.concat(pieces).length
          outgoing.setHeader('set-cookie', ['a=1', 'b=2'])
          outgoing.setHeader('content-type', 'application/json')
          outgoing.end(JSON.stringify({ method, url, headers, bytes }))
        })
      }),
    )
    web.server.on('upgrade', (incoming, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
      socket.pipe(socket)
      socket.on('error', () => {})
      void incoming
    })
    const other = cleanUps.use(await startBackend((_incoming, outgoing) => outgoing.end('other')))
    const { client } = stage
    await publishService(client, 'web', [web.port])
    await publishService(client, 'other', [other.port])
    await publishService(client, 'empty', [])
    const kubeconfig = join(tmpdir(), `ingress-${process.pid}.kubeconfig`)
    await writeFile(kubeconfig, stage.kubeconfig)
    const [kubectl] = kubectls().toReversed()
    ok(kubectl)
    const applied = await runKubectl(kubectl, kubeconfig, ['apply', '-f', '-'], { input: manifest })
    equal(applied.code, 0, applied.err)
    await until(async () => (await hosted('/')).status === 200)
  })
  after(() => cleanUps.disposeAsync())

  test('the default class is set, and the address is in the status', async () => {
    const { client } = stage
    await until(async () => (await client.of(ingress).get('web')).status.loadBalancer.ingress !== undefined)
    const { spec, status } = await client.of(ingress).get('web')
    deepEqual([spec.ingressClassName, status.loadBalancer.ingress], ['coxswain', [{ ip: '127.0.0.1' }]])
  })

  test('a request is forwarded with its body and the headers of a proxy', async () => {
    const { body, headers } = await hosted('/a/b?c=d', {
      method: 'POST',
      body: 'x'.repeat(300_000),
      headers: { 'x-forwarded-for': '203.0.113.9', connection: 'x-private', 'x-private': '1' },
    })
    const seen = JSON.parse(body) as { method: string; url: string; bytes: number; headers: Record<string, string> }
    deepEqual([seen.method, seen.url, seen.bytes], ['POST', '/a/b?c=d', 300_000])
    deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
    const { host, forwarded, traceparent } = seen.headers
    deepEqual([host, forwarded], ['web.example.com', 'for=127.0.0.1;host=web.example.com;proto=http'])
    deepEqual([seen.headers['x-forwarded-for'], seen.headers['x-forwarded-proto']], ['127.0.0.1', 'http'])
    equal(seen.headers['x-private'], undefined)
    match(traceparent ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  })

  test('the path selects the Service; without a rule the response is 404, without an endpoint 503', async () => {
    equal((await hosted('/exact')).body, 'other')
    equal((JSON.parse((await hosted('/exact/more')).body) as { url: string }).url, '/exact/more')
    const found = await send(stage.httpPort, 'unknown.example.com', '/')
    deepEqual([found.status, found.body], [404, 'no rule matches the host and path\n'])
    const empty = await hosted('/empty')
    deepEqual([empty.status, empty.body], [503, 'the Service has no ready endpoint\n'])
    equal((await hosted('/missing')).status, 503)
  })

  test('events name the missing Service and Secret', async () => {
    const reasons = async () =>
      new Set((await stage.client.of(event).list({ namespace: 'default' })).items.map(({ reason }) => reason))
    await until(async () => (await reasons()).isSupersetOf(new Set(['ServiceNotFound', 'SecretNotFound'])))
  })

  test('an upgraded connection carries bytes in both directions', async () => {
    const socket = createConnection(stage.httpPort, '127.0.0.1')
    socket.write('GET /ws HTTP/1.1\r\nhost: web.example.com\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n')
    let received = ''
    socket.on('data', (piece: Buffer) => (received += piece.toString()))
    await until(() => received.includes('\r\n\r\n'))
    match(received, /^HTTP\/1.1 101 /)
    socket.write('hello')
    await until(() => received.endsWith('hello'))
    socket.destroy()
  })

  test('a certificate is selected by name and rotated while a connection stays open', async () => {
    const { client, httpsPort } = stage
    const first = issue('web.example.com')
    const data = (pair: typeof first) => ({ 'tls.crt': base64(pair.certificate), 'tls.key': base64(pair.key) })
    await client.of(secret).create({ metadata: { name: 'web-tls' }, type: 'kubernetes.io/tls', data: data(first) })
    const ca = authority.certificate
    const serves = async (options: { agent: Agent | false }) =>
      new Promise<{ status: number; serial: string }>((resolve, reject) => {
        const common = { host: '127.0.0.1', port: httpsPort, servername: 'web.example.com', ca, ...options }
        const sent = request({ ...common, headers: { host: 'web.example.com' } }, (response) => {
          const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate()
          response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, serial: serialNumber }))
        })
        sent.on('error', reject).end()
      })
    await until(() => serves({ agent: false }).then(({ status }) => status === 200, () => false)) // prettier-ignore
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { serial } = await serves({ agent })
    await client.of(secret).modify('web-tls', 'default', (object) => {
      object.data = data(issue('web.example.com'))
    })
    await until(async () => (await serves({ agent: false })).serial !== serial)
    deepEqual(await serves({ agent }), { status: 200, serial })
    agent.destroy()
  })

  test('gRPC calls are forwarded over HTTP/2 with their trailers', async () => {
    const server = createHttp2Server()
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-te': String(headers.te) }))
      stream.pipe(stream)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await publishService(stage.client, 'grpc', [port], 'kubernetes.io/h2c')
    const session = connectHttp2(`https://127.0.0.1:${stage.httpsPort}`, { rejectUnauthorized: false })
    const call = async () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/echo.Echo/Call',
        ':authority': 'grpc.example.com',
        te: 'trailers',
      })
      const trailers: Record<string, unknown> = {}
      stream.on('trailers', (sent) => Object.assign(trailers, sent))
      stream.write('one')
      const head = await once(stream, 'response')
      stream.end('two')
      let body = ''
      for await (const piece of stream as AsyncIterable<Buffer>) body += piece.toString()
      return { status: (head[0] as { ':status': number })[':status'], body, trailers }
    }
    await until(async () => (await call()).status === 200)
    const { body, trailers } = await call()
    deepEqual([body, trailers['grpc-status'], trailers['x-te']], ['onetwo', '0', 'trailers'])
    session.close()
    server.close()
  })

  test(`endpoints are rolled at ${requestsPerSecond} requests a second without an error`, async () => {
    const { client } = stage
    const statuses = new Map<string, number>()
    const count = (outcome: string) => void statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
    const agent = new PlainAgent({ keepAlive: true, maxSockets: 64 })
    const one = () =>
      new Promise<void>((resolve) => {
        const done = (outcome: string) => {
          count(outcome)
          resolve()
        }
        const { httpPort: port } = stage
        const options = { host: '127.0.0.1', port, path: '/', agent, headers: { host: 'web.example.com' } }
        requestPlain(options, (response) => {
          response.resume().on('end', () => done(String(response.statusCode)))
        })
          .on('error', (error) => done(error.message))
          .end()
      })
    const stop = new AbortController()
    const sending = (async () => {
      const pending = new Set<Promise<void>>()
      const startMs = realClock.monotonicMs()
      for (let sent = 0; !stop.signal.aborted;) {
        const due = ((realClock.monotonicMs() - startMs) / 1_000) * requestsPerSecond
        for (; sent < due && pending.size < 256; sent++) {
          const each: Promise<void> = one().then(() => void pending.delete(each))
          pending.add(each)
        }
        await realClock.sleep(5, new AbortController().signal)
      }
      await Promise.all(pending)
    })()
    const endMs = realClock.monotonicMs() + rollSeconds * 1_000
    let current = web.port
    const stopped: Promise<void>[] = []
    let old = web
    while (realClock.monotonicMs() < endMs) {
      const next = cleanUps.use(await startBackend((_incoming, outgoing) => outgoing.end('rolled')))
      await addEndpoint(client, 'web', next.port)
      await removeEndpoint(client, 'web', current)
      // The proxy closes its connections to a removed endpoint after their last responses. Then the server ends.
      const leaving = old
      stopped.push(until(async () => (await leaving.connections()) === 0).then(() => leaving[Symbol.asyncDispose]()))
      ;[current, old] = [next.port, next]
      const answered = statuses.get('200') ?? 0
      await until(() => (statuses.get('200') ?? 0) >= answered + requestsPerRoll || statuses.size > 1)
    }
    stop.abort()
    await sending
    await Promise.all(stopped)
    agent.destroy()
    deepEqual([...statuses.keys()], ['200'])
    ok((statuses.get('200') ?? 0) > requestsPerSecond, 'requests were sent')
  })

  test('a request is sent to another endpoint if the first refuses connections', async () => {
    const gone = await startBackend(() => {})
    const alive = cleanUps.use(await startBackend((_incoming, outgoing) => outgoing.end('alive')))
    await gone[Symbol.asyncDispose]()
    await addEndpoint(stage.client, 'empty', gone.port)
    await addEndpoint(stage.client, 'empty', alive.port)
    await until(async () => (await hosted('/empty')).body === 'alive')
    for (let count = 0; count < 4; count++) equal((await hosted('/empty')).body, 'alive')
    match(stage.cluster.metrics.text(), /coxswain_ingress_retries_total\{route="ingress\/default\/web"\} \d/)
  })
})
