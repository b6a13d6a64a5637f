import assert, { deepEqual, equal, match } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog, type LogFields } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { headerChanges } from '../routing/header-changes.ts'
import { routeHostOf, type Filter, type Route, type RouteMatch, type WeightedBackend } from '../routing/route.ts'
import { RouteTable } from '../routing/route-table.ts'
import { PatternWorkExceeded, textPattern } from '../routing/text-pattern.ts'
import { recordedCharactersMax, RequestRecorder } from './access-log.ts'
import { BackendPools } from './backend-pools.ts'
import { ingressMetrics } from './ingress-metrics.ts'
import { hostOf, ProxyHandler, proxyLimitsDefault } from './proxy-handler.ts'
import { SimulatedConnections, simulatedRequest, type SentRequest } from './simulated-connections.harness.ts'

interface StageOptions {
  readonly filters?: readonly Filter[]
  readonly backends?: readonly WeightedBackend[]
  readonly emptyStatus?: 404 | 500
  readonly endpoints?: readonly Peer[]
  readonly requestMsMax?: number
  readonly match?: Partial<RouteMatch>
}

const backend = { namespace: 'default', service: 'web', port: 80, protocol: 'http1' } as const
const peer = (last: number): Peer => ({ address: `192.0.2.${last}`, port: 80 })

function stage(options: StageOptions = {}) {
  const { filters = [], emptyStatus = 404, endpoints = [peer(1), peer(2)], requestMsMax } = options
  const connections = new SimulatedConnections()
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const metrics = new Metrics()
  const lines: LogFields[] = []
  const log = { ...silentLog, info: (_message: string, fields: LogFields = {}) => void lines.push(fields) }
  const flow = new FlowRecorder(clock)
  const recorder = new RequestRecorder({ clock, log, accessLog: 'all', metrics: ingressMetrics(metrics), flow })
  const known = { endpoints, next: 0 }
  const handler = new ProxyHandler({
    clock,
    random,
    recorder,
    outbound: connections.outbound,
    limits: { ...proxyLimitsDefault, bodyBytesMax: 10 },
    endpoints: { of: () => known },
    pools: new BackendPools(connections.http1, connections.http2),
  })
  const route: Route = {
    name: 'ingress/default/web',
    host: routeHostOf('web.example.com', 'one'),
    match: { path: { kind: 'prefix', value: '/a' }, headers: [], query: [], ...options.match },
    order: '',
    filters,
    emptyStatus,
    requestMsMax,
    backendMsMax: undefined,
    backends: options.backends ?? [{ backend, weight: 1, filters: [] }],
  }
  const table = new RouteTable([route])
  const send = async (sent: Partial<SentRequest> = {}) => {
    const request = simulatedRequest({ host: 'web.example.com:8080', target: '/a/b?c', ...sent })
    const response = await handler.handle(request, { scheme: 'http', port: 8080, routes: () => table })
    const { status, headers, body } = response
    return { status, headers, text: body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body) }
  }
  return { connections, send, lines, metrics, clock, flow }
}

const ok = (body: string) => () => ({ status: 200, body })

test('statuses that only an endpoint invents share a label', async () => {
  const { connections, send, metrics } = stage()
  const sent = [200, 404, 418, 499, 599, 503]
  let next = 0
  const answer = () => ({ status: sent[next++ % sent.length] ?? 0, body: '' })
  connections.endpoints.set('192.0.2.1:80', answer).set('192.0.2.2:80', answer)
  for (const status of sent) deepEqual((await send()).status, status)
  const labels = Array.from(
    metrics.text().matchAll(/requests_total\{[^}]*code="([^"]*)"\} (\d+)/g),
    ([, code, count]) => [code, count],
  )
  deepEqual(Object.fromEntries(labels), { '200': '1', '404': '1', '4xx': '2', '5xx': '1', '503': '1' })
})

test('a request whose comparison with patterns takes too long is refused', async () => {
  const pattern = textPattern('[ab]{200}')
  assert(typeof pattern !== 'string')
  const { connections, send, lines } = stage({ match: { headers: [{ name: 'x-long', value: pattern }] } })
  connections.endpoints.set('192.0.2.1:80', ok('one')).set('192.0.2.2:80', ok('two'))
  const [short, long] = [
    await send({ headers: { 'x-long': 'ab'.repeat(100) } }),
    await send({ headers: { 'x-long': 'a'.repeat(10_000) } }),
  ]
  deepEqual([short.status, long.status, lines[1]?.['failure']], [200, 500, new PatternWorkExceeded().message])
})

test('a request is forwarded to endpoints in turn, and recorded', async () => {
  const { connections, send, lines, metrics, flow } = stage()
  connections.endpoints.set('192.0.2.1:80', ok('one')).set('192.0.2.2:80', ok('two'))
  deepEqual([(await send()).text, (await send()).text], ['two', 'one'])
  const [first] = connections.received
  deepEqual([first?.method, first?.target, first?.headers['host']], ['GET', '/a/b?c', 'web.example.com:8080'])
  const { traceparent, ...line } = lines[0] ?? {}
  match(String(traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  deepEqual(line, {
    method: 'GET',
    host: 'web.example.com',
    path: '/a/b',
    status: 200,
    route: 'ingress/default/web',
    client: '192.0.2.99',
    service: 'default/web:80',
    endpoint: '192.0.2.2:80',
    ms: 0,
  })
  match(metrics.text(), /coxswain_ingress_requests_total\{route="ingress\/default\/web",code="200"\} 2/)
  deepEqual([...flow.events()].map(({ from, to, what, outcome }) => [from, to, what, outcome]).slice(0, 2), [
    ['client', 'Ingress', 'GET web.example.com/a/b', '200'],
    ['Ingress', 'endpoint/192.0.2.2:80', 'forward', '200'],
  ])
})

test('the trace of the client is passed on', async () => {
  const { connections, send } = stage()
  connections.endpoints.set('192.0.2.1:80', ok('')).set('192.0.2.2:80', ok(''))
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await send({ headers: { traceparent } })
  equal(connections.received[0]?.headers['traceparent'], traceparent)
})

test('few requests of a second are flow events', async () => {
  const { connections, send, flow } = stage()
  connections.endpoints.set('192.0.2.1:80', ok('')).set('192.0.2.2:80', ok(''))
  for (let count = 0; count < 20; count++) await send()
  equal([...flow.events()].length, 20) // ten requests and their forwards
})

test('what is recorded of a request is bounded', async () => {
  const { connections, send, flow, lines } = stage()
  connections.endpoints.set('192.0.2.1:80', ok('')).set('192.0.2.2:80', ok(''))
  const long = 'x'.repeat(100_000)
  await send({ method: long, target: `/a/${long}` })
  await send({ host: long })
  await send({ target: `/a/\\${long}` })
  for (const { what, outcome } of flow.events())
    assert(what.length + (outcome ?? '').length < 4 * recordedCharactersMax, `${what.length} characters`)
  for (const line of lines) assert(JSON.stringify(line).length < 8 * recordedCharactersMax)
})

const refusals: readonly (readonly [string, StageOptions, Partial<SentRequest>, number, string])[] = [
  ['no rule for the host', {}, { host: 'other.com' }, 404, 'no rule matches the host and path\n'],
  ['no rule for the path', {}, { target: '/b' }, 404, 'no rule matches the host and path\n'],
  ['dot segments', {}, { target: '/a/../b' }, 400, 'the path of the request is not valid\n'],
  ['encoded dot segments', {}, { target: '/a/%2e%2E/b' }, 400, 'the path of the request is not valid\n'],
  ['encoded slashes', {}, { target: '/a/..%2fb' }, 400, 'the path of the request is not valid\n'],
  ['backslashes', {}, { target: '/a\\..\\b' }, 400, 'the path of the request is not valid\n'],
  ['no path', {}, { target: '*' }, 400, 'the path of the request is not valid\n'],
  ['no endpoint', { endpoints: [] }, {}, 503, 'the Service has no ready endpoint\n'],
  ['no backend', { backends: [] }, {}, 404, 'the rule has no backend\n'],
  ['no valid backend', { backends: [], emptyStatus: 500 }, {}, 500, 'the backend of the rule is not valid\n'],
  [
    'an invalid backend',
    { backends: [{ backend: undefined, weight: 1, filters: [] }] },
    {},
    500,
    'the backend of the rule is not valid\n',
  ],
  ['endpoints that refuse connections', {}, {}, 502, 'no endpoint of the Service responded\n'],
  ['a long body', {}, { method: 'POST', body: 'x'.repeat(11) }, 413, 'the body of the request is too large\n'],
]

suite('a request is refused', () => {
  for (const [name, options, sent, status, text] of refusals)
    test(name, async () => {
      const response = await stage(options).send(sent)
      deepEqual([response.status, response.text], [status, text])
    })
})

test('another endpoint gets a request that the first has not accepted', async () => {
  const { connections, send, metrics } = stage()
  connections.endpoints.set('192.0.2.1:80', ok('one'))
  equal((await send({ method: 'POST', body: 'x' })).text, 'one')
  deepEqual(connections.received.map(({ endpoint }) => endpoint), ['192.0.2.2:80', '192.0.2.1:80']) // prettier-ignore
  match(metrics.text(), /coxswain_ingress_retries_total\{route="ingress\/default\/web"\} 1/)
})

suite('a request whose connection was lost', () => {
  const lost = () => {
    throw new Error('other side closed')
  }
  const cases = [
    ['is repeated if its method is idempotent', 'GET', '', 200],
    ['is not repeated otherwise', 'POST', '', 502],
    ['is not repeated if it has a body', 'PUT', 'x', 502],
  ] as const
  for (const [name, method, body, status] of cases)
    test(name, async () => {
      const { connections, send } = stage()
      connections.endpoints.set('192.0.2.2:80', lost).set('192.0.2.1:80', ok('one'))
      equal((await send({ method, body })).status, status)
    })
})

test('a redirect is not forwarded', async () => {
  const redirect = { scheme: 'https', statusCode: 301 } as const
  const { send, connections } = stage({ filters: [{ kind: 'redirect', redirect }] })
  const { status, headers } = await send()
  deepEqual([status, headers['location']], [301, 'https://web.example.com/a/b?c'])
  deepEqual(connections.received, [])
})

test('filters of the route and of the backend change the request and the response', async () => {
  const set = (name: string) => {
    const changes = headerChanges({ set: [{ name, value: '1' }] })
    assert(typeof changes !== 'string')
    return changes
  }
  const { send, connections } = stage({
    filters: [
      { kind: 'request-headers', changes: set('x-route') },
      { kind: 'rewrite', hostname: 'inner', path: { kind: 'prefix', value: '/z' } },
    ],
    backends: [{ backend, weight: 1, filters: [{ kind: 'response-headers', changes: set('x-backend') }] }],
  })
  connections.endpoints.set('192.0.2.1:80', ok('')).set('192.0.2.2:80', ok(''))
  const { headers } = await send()
  const [received] = connections.received
  deepEqual([received?.target, received?.headers['host'], received?.headers['x-route']], ['/z/b?c', 'inner', '1'])
  deepEqual({ ...headers }, { 'x-backend': '1' })
})

test('a request is copied to mirrors with its body, and only the response of the endpoint is sent', async () => {
  const copy = { ...backend, service: 'copy' }
  const mirror = (share: number): Filter => ({ kind: 'mirror', mirror: { backend: copy, share } })
  const { connections, send } = stage({ filters: [mirror(1), mirror(0)], endpoints: [peer(1)] })
  connections.endpoints.set('192.0.2.1:80', ok('one'))
  equal((await send({ method: 'POST', body: 'hello' })).text, 'one')
  const received = connections.received.map(({ method, target, headers }) => [method, target, headers['host']])
  deepEqual(received, [
    ['POST', '/a/b?c', 'web.example.com:8080'],
    ['POST', '/a/b?c', 'web.example.com:8080'],
  ])
})

test('the host is in lower case and has no port', () => {
  deepEqual(['A.com:80', 'a.com', '[::1]:80', ''].map(hostOf), ['a.com', 'a.com', '[::1]', ''])
})

test('a policy for origins answers preflight requests, and adds headers to responses', async () => {
  const policy = {
    origins: [{ kind: 'exact', origin: 'https://a.com:443' }],
    allowsCredentials: false,
    methods: ['PUT'],
    headers: [],
    exposedHeaders: [],
    maxAgeSeconds: 5,
  } as const
  const { connections, send } = stage({ filters: [{ kind: 'cors', policy }] })
  connections.endpoints.set('192.0.2.1:80', ok('one')).set('192.0.2.2:80', ok('two'))
  const origin = 'https://a.com'
  const preflight = await send({ method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } })
  deepEqual([preflight.status, preflight.headers['access-control-allow-methods']], [204, 'PUT'])
  deepEqual(connections.received, [])
  const simple = await send({ headers: { origin } })
  deepEqual([simple.status, simple.headers['access-control-allow-origin']], [200, origin])
  const backends = [{ backend, weight: 1, filters: [{ kind: 'cors', policy } as const] }]
  const own = await stage({ backends }).send({ method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } }) // prettier-ignore
  deepEqual([own.status, own.headers['access-control-allow-origin']], [204, origin])
})
