// How the API server calls nodes: the allowed addresses, the forwarded headers, and the message of every failure.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { AddressNotAllowed, Unreachable, type OutboundProvider } from '../../platform/http/outbound.ts'
import { byteStreamPair } from '../../wire/byte-pipe.ts'
import { WebSocketConnection } from '../../wire/websocket/websocket-connection.ts'
import { DirectKubelets } from './direct-kubelets.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { HttpsKubelets } from './https-kubelets.ts'
import { noKubelets, type KubeletCall, type KubeletConnection, type PodCall } from './kubelet-connection.ts'
import { startServer, type Harness } from '../server.harness.ts'

const { signal } = new AbortController()
const call: KubeletCall = { node: 'n', method: 'GET', path: '/pods?x=1', headers: {}, body: undefined }

const headersOnward: [isUpgrade: boolean, onward: Record<string, string>][] = [
  [false, { accept: '*/*', cookie: 'a=b' }],
  [true, { accept: '*/*', cookie: 'a=b', connection: 'Upgrade, x-hop', upgrade: 'x' }],
]
for (const [isUpgrade, onward] of headersOnward)
  test(`forwarded headers of ${isUpgrade ? 'an upgrade' : 'a call'}`, () => {
    const identity = { authorization: 'Bearer secret', 'x-remote-user': 'admin', 'impersonate-user': 'admin' }
    const headers = {
      accept: '*/*',
      cookie: 'a=b; __Host-coxswain-ui-6443=secret',
      ...identity,
      host: 'api',
      connection: 'Upgrade, x-hop',
      upgrade: 'x',
      'x-hop': '1',
      expect: '100-continue',
    }
    deepEqual(forwardedHeaders(headers, isUpgrade), onward)
  })

const nodeAt = (status: object): Node => ({ metadata: { name: 'n' }, status }) as unknown as Node
const internal = { type: 'InternalIP', address: '192.0.2.1' }
const origins: [why: string, status: object, origin: string][] = [
  ['the default port', { addresses: [{ type: 'Hostname', address: 'n' }, internal] }, 'https://192.0.2.1:10250'],
  [
    'the port in its status',
    { addresses: [internal], daemonEndpoints: { kubeletEndpoint: { Port: 7 } } },
    'https://192.0.2.1:7',
  ],
  ['a host name without an address', { addresses: [{ type: 'Hostname', address: 'n' }] }, 'https://n:10250'],
  ['an IPv6 address', { addresses: [{ type: 'InternalIP', address: 'fd00::1' }] }, 'https://[fd00::1]:10250'],
]

function kubeletsWith(status: object, exchange: OutboundProvider['exchange']): HttpsKubelets {
  const tls = { authority: 'ca', certificate: 'c', key: 'k' }
  return new HttpsKubelets({
    outbound: { exchange },
    tls,
    findNode: (name) => (name === 'n' ? nodeAt(status) : undefined),
  })
}

for (const [why, status, origin] of origins)
  test(`a kubelet is called at the address of its node: ${why}`, async () => {
    const asked: unknown[] = []
    const kubelets = kubeletsWith(status, (options, request) => {
      asked.push([options.origin, options.tls.key, request.target])
      return Promise.resolve({ kind: 'answer', status: 200, headers: {}, body: (async function* () {})() })
    })
    equal((await kubelets.call(call, signal)).status, 200)
    deepEqual(asked, [[origin, 'k', '/pods?x=1']])
  })

test('kubelets that cannot be reached', async () => {
  const dead = kubeletsWith({ addresses: [internal] }, () =>
    Promise.reject(new Unreachable('dial tcp 192.0.2.1:10250: i/o timeout')),
  )
  const message = (more: Partial<KubeletCall>) =>
    dead.call({ ...call, ...more }, signal).catch((error: Error) => error.message)
  equal(await message({}), 'Get "https://192.0.2.1:10250/pods?x=1": dial tcp 192.0.2.1:10250: i/o timeout')
  equal(await message({ headers: { upgrade: 'x' } }), 'error dialing backend: dial tcp 192.0.2.1:10250: i/o timeout')
  equal(await message({ node: 'other' }), 'nodes "other" not found')
  const pod: PodCall = { ...call, origin: 'http://10.0.0.1:80' }
  await rejects(dead.callPod(pod, signal), {
    code: 503,
    message: 'error trying to reach service: dial tcp 192.0.2.1:10250: i/o timeout',
  })
  const unknown = kubeletsWith({}, () => Promise.reject(new Error('never')))
  await rejects(unknown.call(call, signal), /no preferred addresses found; known addresses: \[\]/)
})

test('an upgraded connection is handed over', async () => {
  const [near, far] = byteStreamPair(100)
  const kubelets = kubeletsWith({ addresses: [internal] }, () =>
    Promise.resolve({ kind: 'upgraded', headers: { upgrade: 'x' }, stream: near }),
  )
  const answer = await kubelets.call({ ...call, headers: { upgrade: 'x' } }, signal)
  equal(answer.status, 101)
  const [client, server] = byteStreamPair(100)
  const over = answer.onUpgrade?.(server)
  await client.write(Uint8Array.of(1, 2))
  for await (const piece of far.pieces) {
    deepEqual([...piece], [1, 2])
    break
  }
  client.end()
  far.end()
  await over
})

test("kubelets in this process are called without a socket, with the API server's identity; others over the network", async () => {
  const received: WireRequest[] = []
  const kubelets = new DirectKubelets(noKubelets)
  const stop = new AbortController()
  const handler = (request: WireRequest) => {
    received.push(request)
    return Promise.resolve({ status: 200, headers: {}, body: 'ok' })
  }
  kubelets.add('n', handler, stop.signal)
  equal((await kubelets.call(call, signal)).body, 'ok')
  deepEqual([received[0]?.target, received[0]?.certificate?.commonName], ['/pods?x=1', 'kube-apiserver-kubelet-client'])
  await rejects(kubelets.call({ ...call, node: 'other' }, signal), /no kubelet of node "other" answers/)
  await rejects(kubelets.callPod({ ...call, origin: 'http://x' }, signal), /no way leads to http:\/\/x/)
  stop.abort()
  await rejects(kubelets.call(call, signal), /no kubelet of node "n" answers/)
})

/** Responds with the request. */
class EchoKubelets implements KubeletConnection {
  status = 200
  body = ''
  readonly asked: string[] = []

  call({ node, method, path, body }: KubeletCall) {
    return this.#answer(`${node} ${method} ${path} ${new TextDecoder().decode(body)}`.trim())
  }

  callPod({ origin, method, path, body }: PodCall) {
    return this.#answer(`${method} ${origin}${path} ${new TextDecoder().decode(body)}`.trim())
  }

  #answer(asked: string) {
    this.asked.push(asked)
    return Promise.resolve({ status: this.status, headers: { 'content-type': 'text/plain' }, body: this.body })
  }
}

const pods = '/api/v1/namespaces/default/pods'
const merge = { 'content-type': 'application/merge-patch+json' }

async function withPod(kubelets: KubeletConnection): Promise<Harness> {
  const server = await startServer(undefined, { kubelets })
  const ports = [{ name: 'http', containerPort: 8080 }]
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', ports }] }
  await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
  await server.call('PATCH', '/api/v1/nodes/n/status', { status: { addresses } }, merge)
  await server.call('POST', pods, { metadata: { name: 'p' }, spec })
  await server.call('PATCH', `${pods}/p/status`, { status: { podIP: '10.0.0.7', podIPs: [{ ip: '10.0.0.7' }] } }, merge)
  return server
}

const passed: [why: string, method: string, target: string, body: string | undefined, asked: string][] = [
  [
    'logs',
    'GET',
    `${pods}/p/log?follow=true&tailLines=5`,
    undefined,
    'n GET /containerLogs/default/p/c?follow=true&tailLines=5',
  ],
  ['a path of a kubelet', 'GET', '/api/v1/nodes/n/proxy/pods/?a=b', undefined, 'n GET /pods/?a=b'],
  ['a body for a kubelet', 'POST', '/api/v1/nodes/n/proxy/run', 'not JSON', 'n POST /run not JSON'],
  ['a pod by its first port', 'GET', `${pods}/p/proxy/a%20b/`, undefined, 'GET http://10.0.0.7:8080/a%20b/'],
  ['a pod by port number', 'GET', `${pods}/p:81/proxy/`, undefined, 'GET http://10.0.0.7:81/'],
  ['a pod by port name', 'PUT', `${pods}/http:p:http/proxy/x`, 'y', 'PUT http://10.0.0.7:8080/x y'],
  ['a pod over HTTPS', 'GET', `${pods}/https:p:81/proxy/x`, undefined, 'GET https://10.0.0.7:81/x'],
  ['OPTIONS', 'OPTIONS', `${pods}/p:81/proxy/x`, undefined, 'OPTIONS http://10.0.0.7:81/x'],
  [
    'a query is unchanged',
    'GET',
    `${pods}/p:81/proxy/x?a=%20d+e&a;b`,
    undefined,
    'GET http://10.0.0.7:81/x?a=%20d+e&a;b',
  ],
  ['a query that resembles a write', 'POST', `${pods}/p:81/proxy/x?force=1`, '', 'POST http://10.0.0.7:81/x?force=1'],
  ['no other host', 'GET', `${pods}/p:81/proxy/\\127.0.0.1:1/x`, undefined, 'GET http://10.0.0.7:81/%5C127.0.0.1:1/x'],
  ['no other host of a node', 'GET', '/api/v1/nodes/n/proxy/\\127.0.0.1:1', undefined, 'n GET /%5C127.0.0.1:1'],
  [
    'another port of a node',
    'GET',
    '/api/v1/nodes/n:9100/proxy/metrics',
    undefined,
    'GET http://10.0.0.1:9100/metrics',
  ],
  ['the port of the kubelet', 'GET', '/api/v1/nodes/https:n:10250/proxy/metrics', undefined, 'n GET /metrics'],
]
for (const [why, method, target, body, asked] of passed)
  test(`proxied: ${why}`, async () => {
    const kubelets = new EchoKubelets()
    await using server = await withPod(kubelets)
    equal((await server.call(method, target, body)).status, 200)
    deepEqual(kubelets.asked, [asked])
  })

const refusals: [why: string, status: number, text: string, code: number, reason: string, message: string][] = [
  [
    'has a waiting container',
    400,
    'container "c" in pod "p" is waiting to start: ContainerCreating',
    400,
    'BadRequest',
    'container "c" in pod "p" is waiting to start: ContainerCreating',
  ],
  ['has an internal error', 500, 'oops', 500, 'InternalError', 'Internal error occurred: oops'],
  [
    'does not have the pod',
    404,
    'pod "p" does not exist',
    404,
    'NotFound',
    'the server could not find the requested resource ( pods p)',
  ],
  [
    'does not authenticate the API server',
    401,
    'Unauthorized',
    401,
    'Unauthorized',
    'the server has asked for the client to provide credentials',
  ],
  ['does not authorize the API server', 403, 'Forbidden (user=x)', 403, 'Forbidden', 'Forbidden (user=x)'],
]
for (const [why, status, text, code, reason, message] of refusals)
  test(`a kubelet that rejects a request for logs: it ${why}`, async () => {
    const kubelets = Object.assign(new EchoKubelets(), { status, body: text })
    await using server = await withPod(kubelets)
    const { status: got, body } = await server.call('GET', `${pods}/p/log`)
    deepEqual([got, body.reason, body.message], [code, reason, message])
  })

test('log options are validated', async () => {
  await using server = await withPod(new EchoKubelets())
  const message = async (query: string) => (await server.call('GET', `${pods}/p/log?${query}`)).body.message
  equal(
    await message('tailLines=-1'),
    'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  )
  match(
    await message('limitBytes=0&sinceSeconds=0'),
    /limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds/,
  )
  match(
    await message('sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z'),
    /at most one of `sinceTime` or `sinceSeconds` may be specified/,
  )
  match(await message('tailLines=x'), /invalid syntax/)
})

test('a service is reached at one of its ready addresses that belong to a pod', async () => {
  const kubelets = new EchoKubelets()
  await using server = await withPod(kubelets)
  const [at, endpoints] = ['services', 'endpoints'].map((plural) => `/api/v1/namespaces/default/${plural}`) as [
    string,
    string,
  ]
  const message = async (name: string) => (await server.call('GET', `${at}/${name}/proxy/x`)).body.message
  equal(await message('s'), 'services "s" not found')
  await server.call('POST', at, { metadata: { name: 's' }, spec: { ports: [{ name: 'web', port: 80 }] } })
  equal(await message('s'), 'services "s" not found', 'there are no Endpoints')
  const set = (subset: object) =>
    server.call('PUT', `${endpoints}/s`, {
      metadata: { name: 's' },
      subsets: [{ ...subset, ports: [{ name: 'web', port: 8080 }] }],
    })
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'p' }
  await set({ notReadyAddresses: [{ ip: '10.0.0.7', targetRef }] })
  equal(await message('s:web'), 'no endpoints available for service "s:web"')
  for (const address of [
    { ip: '10.0.0.7' },
    { ip: '10.0.0.9', targetRef },
    { ip: '10.0.0.7', targetRef: { ...targetRef, name: 'other' } },
    { ip: '10.0.0.7', targetRef: { ...targetRef, namespace: 'other' } },
  ]) {
    await set({ addresses: [address] })
    equal(await message('s:web'), 'no endpoints available for service "s:web"', JSON.stringify(address))
  }
  await set({ addresses: [{ ip: '10.0.0.7', targetRef }] })
  equal(await message('s'), 'no endpoints available for service "s"', 'the port has a name')
  equal(await message('s:81'), 'no service port 81 found for service "s"')
  equal(await message('x:s:web'), 'invalid service request "x:s:web"')
  for (const name of ['s:web', 's:80', 'https:s:web'])
    equal((await server.call('GET', `${at}/${name}/proxy/x`)).status, 200)
  deepEqual(kubelets.asked, ['GET http://10.0.0.7:8080/x', 'GET http://10.0.0.7:8080/x', 'GET https://10.0.0.7:8080/x'])
})

test('addresses of the own machine are not proxied as pods, under any name', async () => {
  const kubelets = new EchoKubelets()
  await using server = await withPod(kubelets)
  const message = async (name: string) => (await server.call('GET', `${pods}/${name}/proxy/`)).body.message
  equal(await message('ftp:p:1'), 'invalid pod request "ftp:p:1"')
  equal(await message('a:b:c:d'), 'invalid pod request "a:b:c:d"')
  match(await message('p:x'), /invalid port "x"/)
  match(await message('p:70000'), /invalid port "70000"/)
  for (const ip of ['127.0.0.1', '::1', '169.254.169.254', '224.0.0.1']) {
    await server.call('PATCH', `${pods}/p/status`, { status: { podIP: ip, podIPs: [{ ip }] } }, merge)
    equal(await message('p'), 'address not allowed')
  }
  const { status, body } = await server.call(
    'PATCH',
    `${pods}/p/status`,
    { status: { podIPs: [{ ip: '::ffff:127.0.0.1' }] } },
    merge,
  )
  deepEqual(
    [status, body.message],
    [
      422,
      'Pod "p" is invalid: status.podIPs[0]: Invalid value: "::ffff:127.0.0.1": must not be an IPv4-mapped IPv6 address',
    ],
  )
  deepEqual(kubelets.asked, [])
})

test('a node that has the address of the own machine is only reached for logs', async () => {
  const asked: (string | undefined)[] = []
  const kubelets = (address: string) =>
    kubeletsWith({ addresses: [{ type: 'Hostname', address }] }, ({ origin, allowsAddress }) => {
      asked.push(`${origin} ${allowsAddress?.('127.0.0.1') ?? 'anywhere'}`)
      return Promise.reject(new AddressNotAllowed('address not allowed'))
    })
  await rejects(kubelets('localhost').call({ ...call, isProxied: true }, signal), {
    code: 400,
    message: 'address not allowed',
  })
  await rejects(kubelets('localhost').call(call, signal), AddressNotAllowed)
  for (const host of ['a@127.0.0.1', '127.0.0.1/x?', 'bad ip', 'a:1', 'x\\y'])
    await rejects(kubelets(host).call(call, signal), { code: 400, message: `lookup ${host}: no such host` })
  deepEqual(asked, ['https://localhost:10250 false', 'https://localhost:10250 anywhere'])
})

test('a proxy path without a trailing slash is redirected, and the forwarded headers are set', async () => {
  const received: PodCall[] = []
  const kubelets: KubeletConnection = {
    ...noKubelets,
    callPod(sent) {
      received.push(sent)
      return Promise.resolve({ status: 302, headers: { location: '/login' }, body: '' })
    },
  }
  await using server = await withPod(kubelets)
  const bare = await server.call('GET', `${pods}/p:81/proxy?a=b`)
  deepEqual([bare.status, bare.headers['location']], [301, `${pods}/p:81/proxy/?a=b`])
  const sent = { 'x-forwarded-for': '192.0.2.9', 'accept-encoding': 'gzip' }
  const answer = await server.call('GET', `${pods}/p:81/proxy/x`, undefined, sent)
  deepEqual([answer.status, answer.headers['location']], [302, `${pods}/p:81/proxy/login`])
  deepEqual(
    ['x-forwarded-for', 'x-forwarded-uri', 'accept-encoding'].map((name) => received[0]?.headers[name]),
    ['192.0.2.9', `${pods}/p:81/proxy/x`, undefined],
  )
})

const logProtocols: [offered: string | undefined, agreed: string | undefined, kind: string][] = [
  [undefined, undefined, 'binary'],
  ['binary.k8s.io', 'binary.k8s.io', 'binary'],
  ['base64.binary.k8s.io', 'base64.binary.k8s.io', 'text'],
  ['other, binary.k8s.io', 'binary.k8s.io', 'binary'],
]
for (const [offered, agreed, kind] of logProtocols)
  test(`a log over WebSocket with the protocols ${offered ?? 'none'}`, async () => {
    const kubelets = Object.assign(new EchoKubelets(), { body: 'hello\n' })
    await using server = await withPod(kubelets)
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
    const answer = await server.wire('GET', `${pods}/p/log`, {
      ...headers,
      ...(offered === undefined ? {} : { 'sec-websocket-protocol': offered }),
    })
    deepEqual(
      [answer.status, answer.headers['sec-websocket-accept'], answer.headers['sec-websocket-protocol']],
      [101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', agreed],
    )
    const [client, socket] = byteStreamPair(1_000)
    const over = answer.onUpgrade?.(socket)
    const read: string[] = []
    const connection = new WebSocketConnection(client, () => new Uint8Array(4))
    for await (const message of connection.messages())
      read.push(`${message.kind} ${new TextDecoder().decode(message.bytes)}`)
    await over
    deepEqual(read, [kind === 'text' ? 'text aGVsbG8K' : 'binary hello\n'])
    deepEqual(kubelets.asked, ['n GET /containerLogs/default/p/c'])
  })
