import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Metrics } from '../../base/observability/metrics.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { routeHostOf, type WeightedBackend } from '../routing/route.ts'
import { RouteTable } from '../routing/route-table.ts'
import { RequestRecorder } from './access-log.ts'
import { clientHelloOf } from './client-hello.harness.ts'
import { ingressMetrics } from './ingress-metrics.ts'
import { TlsConnections, tlsConnectionLimitsDefault } from './tls-connections.ts'

/** One end of a connection, whose peer is the test. */
function simulatedStream() {
  const waiting: (Uint8Array | undefined)[] = []
  let wake = () => {}
  const log: string[] = []
  let isDestroyed = false
  const stream: ByteStream = {
    pieces: (async function* () {
      for (;;) {
        if (isDestroyed) throw new Error('destroyed')
        const piece = waiting.length > 0 ? waiting.shift() : 'none'
        if (piece === undefined) return
        if (piece === 'none') await new Promise<void>((resolve) => (wake = resolve))
        else yield piece
      }
    })(),
    write: async (piece) => void log.push(`${piece.length} bytes`),
    end: () => void log.push('end'),
    destroy() {
      isDestroyed = true
      log.push('destroyed')
      wake()
    },
  }
  /** Undefined: the peer ends its side. */
  const send = (piece: Uint8Array | undefined) => {
    waiting.push(piece)
    wake()
  }
  return { stream, log, send }
}

const backend = (service: string, weight = 1): WeightedBackend => ({
  backend: { namespace: 'default', service, port: 443, protocol: 'tcp' },
  weight,
  filters: [],
})
const routes = (backends: readonly WeightedBackend[]) =>
  new RouteTable([
    {
      name: 'tlsroute/default/a',
      host: routeHostOf('*.example.com', 'any'),
      match: { path: { kind: 'prefix', value: '/' }, headers: [], query: [] },
      order: '',
      filters: [],
      backends,
      emptyStatus: 500,
      requestMsMax: undefined,
      backendMsMax: undefined,
    },
  ])

const peer = (address: string) => ({ address, port: 443 })
const hello = clientHelloOf('a.example.com')

type Handshake = 'completed' | 'failed' | 'silent'

/**
 * `open` are the addresses of endpoints that accept connections; others refuse them, `silent` never respond. With a handshake,
 * connections are decrypted.
 */
async function stage(open: readonly string[] = ['10.0.0.1'], backends = [backend('web')], handshake?: Handshake) {
  const clock = new VirtualClock()
  const lines: string[] = []
  const log = { info: (message: string, fields: object) => lines.push(`${message} ${JSON.stringify(fields)}`) }
  const flow = new FlowRecorder(clock)
  const metrics = new Metrics()
  const measures = ingressMetrics(metrics)
  const tried: string[] = []
  const endpoint = simulatedStream()
  /** What a client has encrypted. */
  const contents = simulatedStream()
  const decrypted: string[] = []
  const connections = new TlsConnections({
    clock,
    random: seededRandom(1),
    endpoints: {
      of: ({ service }) => ({
        endpoints: service === 'web' ? ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map(peer) : [],
        next: -1,
      }),
    },
    sockets: {
      acceptTls: ({ destroy }, { certificate }, signal) => {
        decrypted.push(certificate)
        if (handshake === 'completed') return Promise.resolve(contents.stream)
        destroy()
        if (handshake === 'failed') return Promise.reject(new Error('wrong version number'))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      },
      connectStream: ({ address }, signal) => {
        tried.push(address)
        if (open.includes(address)) return Promise.resolve(endpoint.stream)
        if (!open.includes('silent')) return Promise.reject(new Error('connect ECONNREFUSED'))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      },
    },
    recorder: new RequestRecorder({ clock, log: log as unknown as Log, accessLog: 'all', metrics: measures, flow }),
    limits: tlsConnectionLimitsDefault,
  })
  const client = simulatedStream()
  const certificates = new Map(
    handshake === undefined ? [] : [['a.example.com', { certificate: 'of a.example.com', key: '' }]],
  )
  const entry = { routes: routes(backends), certificates }
  const served = connections.serve(client.stream, peer('192.0.2.9'), entry)
  const tick = (ms = 1) => clock.advance(ms)
  return { client, contents, decrypted, endpoint, served, tick, tried, lines, connections: () => metrics.text() }
}

suite('TlsConnections', () => {
  test('the bytes of both sides are forwarded, from the first', async () => {
    const { client, endpoint, served, tick, lines, connections } = await stage()
    for (const piece of [hello.subarray(0, 7), hello.subarray(7)]) {
      client.send(piece)
      await tick()
    }
    endpoint.send(new Uint8Array(5))
    client.send(new Uint8Array(3))
    await tick()
    client.send(undefined)
    endpoint.send(undefined)
    await served
    deepEqual(endpoint.log, ['7 bytes', `${hello.length - 7} bytes`, '3 bytes', 'end'])
    deepEqual(client.log, ['5 bytes', 'end'])
    deepEqual(lines, [
      'connection {"host":"a.example.com","route":"tlsroute/default/a","client":"192.0.2.9","endpoint":"10.0.0.1:443"}',
    ])
    equal(connections().includes('connections_total{route="tlsroute/default/a",result="connected"} 1'), true)
  })

  test('where the name has a certificate, what the client has encrypted is forwarded', async () => {
    const { client, contents, decrypted, endpoint, served, tick } = await stage(undefined, undefined, 'completed')
    client.send(hello)
    await tick()
    contents.send(new Uint8Array(3))
    endpoint.send(new Uint8Array(5))
    await tick()
    contents.send(undefined)
    endpoint.send(undefined)
    await served
    deepEqual(decrypted, ['of a.example.com'])
    deepEqual([endpoint.log, contents.log, client.log], [['3 bytes', 'end'], ['5 bytes', 'end'], []])
  })

  for (const handshake of ['failed', 'silent'] as const)
    test(`a client whose handshake is ${handshake} is disconnected`, async () => {
      const { client, served, tick, tried, lines } = await stage(undefined, undefined, handshake)
      client.send(hello)
      await tick(handshake === 'silent' ? tlsConnectionLimitsDefault.connectMsMax : 1)
      await served
      deepEqual([client.log.includes('destroyed'), tried], [true, []])
      equal(lines.join('').includes('the TLS handshake has failed'), true)
    })

  test('an endpoint that refuses is followed by another, up to three', async () => {
    const second = await stage(['10.0.0.2'])
    second.client.send(hello)
    await second.tick()
    deepEqual([second.tried, second.endpoint.log], [['10.0.0.1', '10.0.0.2'], [`${hello.length} bytes`]])
    const last = await stage(['10.0.0.4'])
    last.client.send(hello)
    await last.served
    deepEqual([last.tried.length, last.client.log.includes('destroyed')], [3, true])
    equal(last.connections().includes('result="refused"} 1'), true)
  })

  test('an endpoint that does not respond is given up after 5 s', async () => {
    const { client, tried, tick } = await stage(['10.0.0.2', 'silent'])
    client.send(hello)
    await tick(4_999)
    deepEqual(tried, ['10.0.0.1'])
    await tick(2)
    deepEqual(tried, ['10.0.0.1', '10.0.0.2'])
  })

  for (const [name, name2, backends] of [
    ['a name without a route', 'a.example.org', [backend('web')]],
    ['a Service without endpoints', 'a.example.com', [backend('empty')]],
    ['a backend that is not valid', 'a.example.com', [{ ...backend('web'), backend: undefined }]],
    ['weights of 0', 'a.example.com', [backend('web', 0)]],
  ] as const)
    test(`${name} closes the connection without a byte`, async () => {
      const { client, served, tried } = await stage(undefined, [...backends])
      client.send(clientHelloOf(name2))
      await served
      deepEqual([client.log, tried], [['destroyed'], []])
    })

  test('a client that does not speak TLS, or says nothing for 5 s, or leaves, is disconnected', async () => {
    const plain = await stage()
    plain.client.send(new TextEncoder().encode('GET / HTTP/1.1\r\n\r\n'))
    await plain.served
    const silent = await stage()
    silent.client.send(hello.subarray(0, 20))
    await silent.tick(5_001)
    await silent.served
    const gone = await stage()
    gone.client.send(undefined)
    await gone.served
    for (const { client, tried } of [plain, silent, gone])
      deepEqual([client.log.includes('destroyed'), tried], [true, []])
  })

  test('a first message of a thousand pieces is refused, although it is not complete', async () => {
    const { client, served, tried } = await stage()
    const large = clientHelloOf('a'.repeat(2_000))
    for (let at = 0; at < 1_024; at++) client.send(large.subarray(at, at + 1))
    await served
    deepEqual([client.log, tried], [['destroyed'], []])
  })
})
