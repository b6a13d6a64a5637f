// The kubelet's server on simulated containers, without sockets: access control, logs, exec over both protocols,
// errors.
import { deepEqual, equal, match } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { Client } from '../../client/client.ts'
import type { ApiCall, Transport } from '../../client/transport/transport.ts'
import type { SystemLog } from '../../machine/logs/system-logs.ts'
import { plainContainer, plainSandbox } from '../../machine/runtime/runtime-config.ts'
import type { RemoteStreams } from '../../machine/runtime/container-runtime.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { nodeInflateRaw } from '../../platform/node/inflate.ts'
import type { WireResponse, WireRequest } from '../../platform/http/listener.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { acceptSpdyStreams, exitStatus, openSpdyStreams } from '../../wire/remote-command/command-streams.ts'
import { SpdySession } from '../../wire/spdy/spdy-session.ts'
import { webSocketTunnel, WebSocketConnection } from '../../wire/websocket/websocket-connection.ts'
import { loggedContainer } from './container-logs.ts'
import type { KubeletHost } from './kubelet-host.ts'
import { delegatedAuth, trustingApiServer } from './delegated-auth.ts'
import { KubeletServer } from './kubelet-server.ts'

const { signal } = new AbortController()
const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const master = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
  fingerprint: '',
  authority: 'users',
  validToMs: Date.UTC(2100, 0),
} as const

const proxy = { ...master, authority: 'proxies' } as const

interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly certificate?: WireRequest['certificate']
}

interface Options {
  readonly streams?: RemoteStreams
  readonly exchange?: OutboundProvider['exchange']
}

async function startNode({
  streams,
  exchange = () => Promise.reject(new Error('no outbound request is expected')),
}: Options = {}) {
  const clock = new VirtualClock()
  const end = new AbortController()
  const simulated = new SimulatedRuntime(clock, seededRandom(1), {
    images: {
      talks({ log, terminated, serveHttp }) {
        serveHttp(80, ({ path }) => ({ status: 200, body: `page ${path}` }))
        log('hello')
        log('world')
        return new Promise((resolve) => {
          terminated.addEventListener('abort', () => resolve(0))
          end.signal.addEventListener('abort', () => {
            log('bye')
            resolve(0)
          })
        })
      },
    },
    async command(command, _container, { stdin, stdout }) {
      if (command[0] !== 'cat') return { exitCode: command.length, stdout: command.join(' '), stderr: 'warned' }
      for await (const piece of stdin) await stdout(encode(decode(piece).toUpperCase()))
      return { exitCode: 0 }
    },
  })
  const runtime: KubeletHost['runtime'] = {
    name: simulated.name,
    streams: streams ?? simulated.streams,
    podUids: (stop) => simulated.podUids(stop),
    inspect: (uid, stop) => simulated.inspect(uid, stop),
    exec: (container, command, timeoutMs, stop) => simulated.exec(container, command, timeoutMs, stop),
  }
  const sandbox = plainSandbox('uid', 'default', 'web')
  const sandboxId = await simulated.runSandbox(sandbox, signal)
  const id = await simulated.createContainer(sandboxId, plainContainer('main', 'talks'), sandbox, signal)
  await simulated.startContainer(id, signal)
  const containerStatuses = [
    { name: 'main', containerID: `simulated://${id}`, state: { running: {} } },
    { name: 'late', state: { waiting: { reason: 'ContainerCreating' } } },
  ]
  const pod = {
    metadata: { namespace: 'default', name: 'web', uid: 'uid' },
    status: { containerStatuses },
  } as unknown as Pod
  const server = new KubeletServer({
    host: {
      nodeName: 'n',
      runtime,
      logs: simulated.logs,
      pod: (_, name) => (name === 'web' ? pod : undefined),
      pods: () => Promise.resolve([pod]),
      probeMetrics: () => 'prober_probe_total 1\n',
      configuration: { kind: 'KubeletConfiguration' },
      systemLogs: { find: (path) => Promise.resolve(systemLog(path)) },
    },
    auth: {
      authenticateToken: (token) => Promise.resolve(token === 'good' ? { name: 'robot', groups: [] } : undefined),
      authorize: ({ name, groups }, verb, part) =>
        Promise.resolve(groups.includes('system:masters') || (name === 'robot' && verb === 'get' && part === 'pods')),
    },
    outbound: { exchange },
    sha1: (text) => createHash('sha1').update(text).digest(),
    inflateRaw: nodeInflateRaw,
    clock,
    log: silentLog,
  })
  const ask = (target: string, { method = 'GET', headers = {}, certificate = master }: Asked = {}) =>
    server.handle({
      method,
      target,
      headers,
      remoteAddress: '',
      certificate: 'authorization' in headers || 'anonymous' in headers ? undefined : certificate,
      headerValues: () => [],
      signal,
      cancel: () => {},
      upgrade: 'upgrade' in headers,
      body: () => Promise.resolve(new Uint8Array()),
    })
  return { ask, end: () => end.abort() }
}

function systemLog(path: string): SystemLog | undefined {
  if (/^\/?(deep\/?)?$/.test(path)) return { kind: 'directory', names: ['a:b', 'a<b', 'deep/', 'what?'] }
  if (!path.startsWith('/sys log')) return undefined
  return {
    kind: 'file',
    modifiedMs: 0,
    async *content() {
      yield encode('a line\n')
    },
  }
}

async function textOf({ body }: WireResponse): Promise<string> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return decode(body)
  if ('take' in body) throw new Error('the response has no text body')
  let text = ''
  for await (const piece of body) text += typeof piece === 'string' ? piece : decode(piece)
  return text
}

const denyAll = {
  commonName: 'mallory',
  organizations: ['dev'],
  fingerprint: '',
  authority: 'users',
  validToMs: Date.UTC(2100, 0),
} as const
const answers: [why: string, target: string, asked: Asked, status: number, text: RegExp][] = [
  ['health', '/healthz', {}, 200, /^ok$/],
  ['its pods', '/pods', {}, 200, /^{"kind":"PodList","apiVersion":"v1".*"name":"web"/],
  [
    'pods that run in the runtime',
    '/runningpods/',
    {},
    200,
    /^{"kind":"PodList".*"items":\[{"metadata":{"name":"web","namespace":"default","uid":"uid"},"spec":{"containers":\[{"name":"main","image":"talks"/,
  ],
  ['an unknown path', '/nothing', {}, 404, /^404 page not found\n$/],
  ['no credentials', '/pods', { headers: { anonymous: '' } }, 401, /^Unauthorized$/],
  ['a front proxy certificate, which is no user', '/pods', { certificate: proxy }, 401, /^Unauthorized$/],
  ['an invalid token', '/pods', { headers: { authorization: 'Bearer bad' } }, 401, /^Unauthorized$/],
  ['a token with access to pods', '/pods', { headers: { authorization: 'Bearer good' } }, 200, /PodList/],
  [
    'a certificate without access',
    '/exec/default/web/main',
    { method: 'POST', certificate: denyAll },
    403,
    /^Forbidden \(user=mallory, verb=create, resource=nodes, subresource\(s\)=\[proxy\]\)\n$/,
  ],
  [
    'the specific subresource is listed first',
    '/healthz',
    { certificate: denyAll },
    403,
    /^Forbidden \(user=mallory, verb=get, resource=nodes, subresource\(s\)=\[healthz proxy\]\)\n$/,
  ],
  ['probe metrics', '/metrics/probes', {}, 200, /^prober_probe_total 1\n$/],
  ['its configuration', '/configz', {}, 200, /^{"kubeletconfig":{"kind":"KubeletConfiguration"}}$/],
  [
    'the logs of the node',
    '/logs/',
    {},
    200,
    /\n<pre>\n<a href=".\/a:b">a:b<\/a>\n<a href="a%3Cb">a&lt;b<\/a>\n<a href="deep\/">deep\/<\/a>\n<a href="what%3F">what\?<\/a>\n<\/pre>\n$/,
  ],
  ['a directory without a trailing slash', '/logs/deep', {}, 301, /^$/],
  ['one of them', '/logs/sys%20log', {}, 200, /^a line\n$/],
  ['a missing log', '/logs/none', {}, 404, /^404 page not found\n$/],
  [
    'the logs of the node are a separate subresource',
    '/logs/',
    { certificate: denyAll },
    403,
    /subresource\(s\)=\[log proxy\]/,
  ],
  ['logs', '/containerLogs/default/web/main', {}, 200, /^hello\nworld\n$/],
  ['the last line', '/containerLogs/default/web/main?tailLines=1', {}, 200, /^world\n$/],
  ['logs of an unknown pod', '/containerLogs/default/no/main', {}, 404, /^pod "no" does not exist\n$/],
  [
    'logs of a container that has not started',
    '/containerLogs/default/web/late',
    {},
    400,
    /^container "late" in pod "web" is waiting to start: ContainerCreating$/,
  ],
  ['a tail that is not a number', '/containerLogs/default/web/main?tailLines=x', {}, 400, /Unable to decode query/],
  ['exec without an upgrade', '/exec/default/web/main?output=1', {}, 400, /^Upgrade request required$/],
  ['exec without streams', '/exec/default/web/main', {}, 400, /at least 1 of stdin, stdout, stderr/],
  [
    'exec in a container that is not running',
    '/exec/default/web/late?output=1',
    { headers: { upgrade: 'SPDY/3.1' } },
    500,
    /^container not found \("late"\)$/,
  ],
  ['exec in an unknown pod', '/exec/default/no/main?output=1', {}, 404, /^pod does not exist$/],
  [
    'an unknown protocol',
    '/exec/default/web/main?output=1',
    { headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9' } },
    403,
    /client supports \[v9\], server accepts \[v4\.channel\.k8s\.io\]/,
  ],
  ['an invalid port', '/portForward/default/web?ports=0', {}, 400, /^unable to parse "0" as a port$/],
]
for (const [why, target, asked, status, text] of answers)
  test(`the kubelet responds: ${why}`, async () => {
    const { ask } = await startNode()
    const answer = await ask(target, asked)
    equal(answer.status, status)
    match(await textOf(answer), text)
  })

test('a followed log ends with its container', async () => {
  const { ask, end } = await startNode()
  const reading = ask('/containerLogs/default/web/main?follow=true').then(textOf)
  end()
  equal(await reading, 'hello\nworld\nbye\n')
})

const webSocket = (protocol: string) => ({
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': protocol,
})
const spdy = (protocol: string) => ({ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol })

/** Completes an upgrade; returns the client's end of the connection. */
function taken(answer: WireResponse): { socket: ByteStream; over: Promise<void> } {
  equal(answer.status, 101)
  const [client, server] = byteStreamPair(1_000_000)
  return {
    socket: client,
    over: answer.onUpgrade?.(server) ?? Promise.reject(new Error('the response has no upgrade')),
  }
}

async function messagesOf(connection: WebSocketConnection): Promise<string[]> {
  const received: string[] = []
  for await (const { bytes } of connection.messages()) received.push(`${bytes[0]}:${decode(bytes.subarray(1))}`)
  return received
}

const mask = () => Uint8Array.of(9, 8, 7, 6)

test('a command runs to its end for a client of WebSocket', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?output=1&error=1&input=1&command=a&command=b', {
    headers: webSocket('v5.channel.k8s.io, v4.channel.k8s.io'),
  })
  equal(answer.headers['sec-websocket-protocol'], 'v5.channel.k8s.io')
  const { socket, over } = taken(answer)
  const received = await messagesOf(new WebSocketConnection(socket, mask))
  socket.end()
  await over
  deepEqual(received, ['1:', '1:a b', '2:warned', `3:${decode(exitStatus(2))}`])
})

test('a command runs to its end for a client of SPDY', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?output=1&error=1&command=a', {
    method: 'POST',
    headers: spdy('v5.channel.k8s.io, v4.channel.k8s.io'),
  })
  equal(answer.headers['x-stream-protocol-version'], 'v4.channel.k8s.io')
  const { socket, over } = taken(answer)
  const session = new SpdySession(socket, 'client', nodeInflateRaw)
  const running = session.run()
  const streams = await openSpdyStreams(session, { tty: false, stdin: false, stdout: true, stderr: true })
  const received = await Promise.all(
    ['stdout', 'stderr', 'error'].map((name) =>
      textOf({ ...answer, body: streams.get(name as 'stdout')?.pieces ?? '' }),
    ),
  )
  await session.close()
  await Promise.all([over, running])
  deepEqual(received, ['a', 'warned', decode(exitStatus(1))])
})

test('a client that attaches to a simulated container gets its output from now on', async () => {
  const { ask, end } = await startNode()
  const answer = await ask('/attach/default/web/main?output=1', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  const received = messagesOf(new WebSocketConnection(socket, mask))
  await eventLoopTurn() // the client is attached now
  end()
  const all = await received
  socket.end()
  await over
  deepEqual(all, ['1:', '1:bye\n', `3:${decode(exitStatus(0))}`])
})

test('a simulated command gets its input as it arrives', async () => {
  const { ask } = await startNode()
  const answer = await ask('/exec/default/web/main?input=1&output=1&command=cat', {
    headers: webSocket('v5.channel.k8s.io'),
  })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('typed'), Uint8Array.of(0))
  await client.sendBinary(Uint8Array.of(255, 0))
  const received = await messagesOf(client)
  socket.end()
  await over
  deepEqual(received, ['1:', '1:TYPED', `3:${decode(exitStatus(0))}`])
})

test('port forwarding to a simulated pod carries bytes both ways and reports closed ports', async () => {
  const { ask } = await startNode()
  const answer = await ask('/portForward/default/web', { headers: spdy('portforward.k8s.io') })
  const { socket, over } = taken(answer)
  const session = new SpdySession(socket, 'client', nodeInflateRaw)
  const running = session.run()
  const forward = async (port: string) => {
    const error = await session.open({ streamtype: 'error', port, requestid: port })
    const data = await session.open({ streamtype: 'data', port, requestid: port })
    await data.write(encode('GET /x HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n'))
    const read = await textOf({ ...answer, body: data.pieces })
    data.end()
    return `${read}${await textOf({ ...answer, body: error.pieces })}`
  }
  match(await forward('80'), /^HTTP\/1\.1 200 .*\r\n\r\npage \/x$/s)
  match(await forward('81'), /^error forwarding port 81 to pod: .*connection refused/)
  await session.close()
  socket.end()
  await Promise.all([over, running])
})

/** A runtime with a SPDY streaming server, implemented by `serve`. */
function streamingRuntime(serve: (session: SpdySession) => Promise<void>) {
  const asked: string[] = []
  const played: Promise<unknown>[] = []
  const url = (path: string) => Promise.resolve(`http://127.0.0.1:1/${path}`)
  const streams: RemoteStreams = {
    kind: 'remote',
    execUrl: (_id, { command }) => url(`exec/${command.join('+')}`),
    attachUrl: () => url('attach'),
    portForwardUrl: () => url('ports'),
  }
  const exchange: OutboundProvider['exchange'] = ({ origin }, { target, headers }) => {
    asked.push(`${origin}${target} ${headers['x-stream-protocol-version']}`)
    const [near, far] = byteStreamPair(1_000_000)
    const session = new SpdySession(far, 'server', nodeInflateRaw)
    played.push(session.run(), serve(session))
    return Promise.resolve({ kind: 'upgraded', headers: spdy('chosen by the runtime'), stream: near })
  }
  return { streams, exchange, asked, played }
}

const shape = { tty: false, stdin: true, stdout: true, stderr: false }

test('WebSocket channels are converted to streams of the runtime, with the end of stdin and the status', async () => {
  const { streams, exchange, asked, played } = streamingRuntime(async (session) => {
    const accepted = await acceptSpdyStreams(session, shape)
    let input = ''
    for await (const piece of accepted.get('stdin')?.pieces ?? []) input += decode(piece)
    await accepted.get('stdout')?.write(encode(`got ${input}`))
    accepted.get('stdout')?.end()
    await accepted.get('error')?.write(exitStatus(7))
    accepted.get('error')?.end()
    await session.close()
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/exec/default/web/main?input=1&output=1&command=cat', {
    headers: webSocket('v5.channel.k8s.io'),
  })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('in'), Uint8Array.of(0))
  await client.sendBinary(Uint8Array.of(255, 0))
  const received = await messagesOf(client)
  socket.end()
  await over
  await Promise.all(played)
  deepEqual(received, ['1:', '1:got in', `3:${decode(exitStatus(7))}`])
  deepEqual(asked, ['http://127.0.0.1:1/exec/cat v4.channel.k8s.io'])
})

test('a client that disconnects ends the stream of the runtime', async () => {
  const ended = Promise.withResolvers<string>()
  const { streams, exchange, played } = streamingRuntime(async (session) => {
    const accepted = await acceptSpdyStreams(session, shape)
    let input = ''
    for await (const piece of accepted.get('stdin')?.pieces ?? []) input += decode(piece)
    ended.resolve(input)
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/attach/default/web/main?input=1&output=1', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  await new WebSocketConnection(socket, mask).sendBinary(encode('in'), Uint8Array.of(0))
  socket.end()
  equal(await ended.promise, 'in')
  await Promise.all([over, ...played])
})

test('port forwarding over WebSocket uses two channels per port, which start with its number', async () => {
  const { streams, exchange, played } = streamingRuntime(async (session) => {
    for await (const stream of session.incoming) {
      if (stream.headers['streamtype'] === 'error') stream.end()
      else {
        for await (const piece of stream.pieces) {
          await stream.write(encode(`${stream.headers['port']} got ${decode(piece)}`))
          break
        }
        stream.end()
      }
    }
  })
  const { ask } = await startNode({ streams, exchange })
  const answer = await ask('/portForward/default/web?ports=8080', { headers: webSocket('v4.channel.k8s.io') })
  const { socket, over } = taken(answer)
  const client = new WebSocketConnection(socket, mask)
  await client.sendBinary(encode('x'), Uint8Array.of(0))
  const received = await messagesOf(client)
  socket.end()
  await Promise.all([over, ...played])
  const number = decode(Uint8Array.of(8080 & 0xff, 8080 >> 8))
  deepEqual(received, [`0:${number}`, `1:${number}`, '0:8080 got x'])
})

test('SPDY is passed through byte for byte, also inside of a WebSocket', async () => {
  for (const how of ['SPDY', 'WebSocket'] as const) {
    const { streams, exchange, asked, played } = streamingRuntime(async (session) => {
      for await (const stream of session.incoming) {
        await stream.write(encode(`port ${stream.headers['port']}`))
        stream.end()
        for await (const _ of stream.pieces);
      }
    })
    const { ask } = await startNode({ streams, exchange })
    const headers = how === 'SPDY' ? spdy('portforward.k8s.io') : webSocket('SPDY/3.1+portforward.k8s.io')
    const answer = await ask('/portForward/default/web', { headers })
    const { socket, over } = taken(answer)
    const bytes = how === 'SPDY' ? socket : webSocketTunnel(new WebSocketConnection(socket, mask))
    const session = new SpdySession(bytes, 'client', nodeInflateRaw)
    const running = session.run()
    const stream = await session.open({ streamtype: 'data', port: '80', requestid: '0' })
    stream.end()
    equal(await textOf({ ...answer, body: stream.pieces }), 'port 80')
    await session.close()
    socket.end()
    await Promise.all([over, running, ...played])
    deepEqual(asked, ['http://127.0.0.1:1/ports portforward.k8s.io'])
  }
})

const running = { running: {} }
const over = (id: string) => ({ terminated: { exitCode: 1, containerID: id } })
const chosen: [why: string, state: object, lastState: object, previous: boolean, chosen: string][] = [
  ['what runs', running, {}, false, 'now'],
  ['the previous attempt', running, over('before'), true, 'before'],
  ['no previous attempt', running, {}, true, 'previous terminated container "c" in pod "p" not found'],
  ['an exited container', over('ended'), {}, false, 'ended'],
  ['a crashed container in backoff', { waiting: { reason: 'CrashLoopBackOff' } }, over('before'), false, 'before'],
  [
    'no image',
    { waiting: { reason: 'ErrImagePull' } },
    {},
    false,
    `container "c" in pod "p" is waiting to start: image can't be pulled`,
  ],
  [
    'a failing image pull',
    { waiting: { reason: 'ImagePullBackOff' } },
    {},
    false,
    'container "c" in pod "p" is waiting to start: trying and failing to pull image',
  ],
  ['exited without an id', over(''), {}, false, 'container "c" in pod "p" is terminated'],
  ['no status', {}, {}, false, 'container "c" in pod "p" is waiting to start - no logs yet'],
]
for (const [why, state, lastState, previous, expected] of chosen)
  test(`the log of the right attempt is shown: ${why}`, () => {
    const status = { containerStatuses: [{ name: 'c', containerID: 'now', state, lastState }] }
    const pod = { metadata: { name: 'p' }, status } as unknown as Pod
    let got: string
    try {
      got = loggedContainer(pod, 'c', previous)
    } catch (error) {
      got = (error as Error).message
    }
    equal(got, expected)
  })

test('tokens and access are reviewed by the API server, except for its own calls', async () => {
  const asked: unknown[] = []
  const transport = {
    send({ body }: ApiCall) {
      asked.push(body)
      const { spec } = body as { spec: { token?: string; user?: string } }
      const user = { username: 'robot', groups: ['dev'] }
      const status =
        'token' in spec ? { authenticated: spec.token === 'good', user } : { allowed: spec.user === 'robot' }
      return Promise.resolve({ metadata: {}, spec, status })
    },
  } as unknown as Transport
  const access = trustingApiServer('api', delegatedAuth({ client: new Client(transport), nodeName: 'n' }))
  deepEqual(await access.authenticateToken('good', signal), { name: 'robot', groups: ['dev'] })
  equal(await access.authenticateToken('bad', signal), undefined)
  const may = (name: string) => access.authorize({ name, groups: ['dev'] }, 'get', 'proxy', signal)
  deepEqual([await may('robot'), await may('mallory'), await may('api')], [true, false, true])
  equal(asked.length, 4)
  const resourceAttributes = { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'proxy', name: 'n' }
  deepEqual(asked[2], {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: 'robot', groups: ['dev'], resourceAttributes },
  })
})
