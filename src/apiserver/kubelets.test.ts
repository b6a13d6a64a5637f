// How the API server reaches nodes: the addresses it takes, what goes on and what stays, and the words of every failure.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/core/v1/node.ts'
import type { WireRequest } from '../platform/listener.ts'
import { Unreachable, type OutboundProvider } from '../platform/outbound.ts'
import { byteStreamPair } from '../wire/byte-pipe.ts'
import { DirectKubelets } from './direct-kubelets.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { HttpsKubelets } from './https-kubelets.ts'
import { noKubelets, type KubeletCall, type KubeletConnection, type PodCall } from './kubelet-connection.ts'
import { startServer, type Harness } from './server.harness.ts'

const { signal } = new AbortController()
const call: KubeletCall = { node: 'n', method: 'GET', path: '/pods?x=1', headers: {}, body: undefined }

const headersOnward: [isUpgrade: boolean, onward: Record<string, string>][] = [
  [false, { accept: '*/*' }],
  [true, { accept: '*/*', connection: 'Upgrade', upgrade: 'x' }],
]
for (const [isUpgrade, onward] of headersOnward)
  test(`headers of ${isUpgrade ? 'an upgrade' : 'a call'} that go on`, () => {
    const headers = { accept: '*/*', authorization: 'Bearer secret', host: 'api', connection: 'Upgrade', upgrade: 'x' }
    deepEqual(forwardedHeaders(headers, isUpgrade), onward)
  })

const nodeAt = (status: object): Node => ({ metadata: { name: 'n' }, status }) as unknown as Node
const internal = { type: 'InternalIP', address: '192.0.2.1' }
const origins: [why: string, status: object, origin: string][] = [
  ['the usual port', { addresses: [{ type: 'Hostname', address: 'n' }, internal] }, 'https://192.0.2.1:10250'],
  [
    'a port of its own',
    { addresses: [internal], daemonEndpoints: { kubeletEndpoint: { Port: 7 } } },
    'https://192.0.2.1:7',
  ],
  ['a name, where there is no address', { addresses: [{ type: 'Hostname', address: 'n' }] }, 'https://n:10250'],
  ['an address of IPv6', { addresses: [{ type: 'InternalIP', address: 'fd00::1' }] }, 'https://[fd00::1]:10250'],
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
  await rejects(unknown.call(call, signal), /no preferred addresses found/)
})

test('an upgraded connection is handed over', async () => {
  const [near, far] = byteStreamPair(100)
  const kubelets = kubeletsWith({ addresses: [internal] }, () =>
    Promise.resolve({ kind: 'upgraded', headers: { upgrade: 'x' }, stream: near }),
  )
  const answer = await kubelets.call({ ...call, headers: { upgrade: 'x' } }, signal)
  equal(answer.status, 101)
  const [client, server] = byteStreamPair(100)
  const over = answer.takeOver?.(server)
  await client.write(Uint8Array.of(1, 2))
  for await (const piece of far.pieces) {
    deepEqual([...piece], [1, 2])
    break
  }
  client.end()
  far.end()
  await over
})

test('kubelets in this process are asked without a socket, as the API server; others elsewhere', async () => {
  const heard: WireRequest[] = []
  const kubelets = new DirectKubelets(noKubelets)
  const stop = new AbortController()
  const handler = (request: WireRequest) => {
    heard.push(request)
    return Promise.resolve({ status: 200, headers: {}, body: 'ok' })
  }
  kubelets.add('n', handler, stop.signal)
  equal((await kubelets.call(call, signal)).body, 'ok')
  deepEqual([heard[0]?.target, heard[0]?.certificate?.commonName], ['/pods?x=1', 'kube-apiserver-kubelet-client'])
  await rejects(kubelets.call({ ...call, node: 'other' }, signal), /no kubelet of node "other" answers/)
  await rejects(kubelets.callPod({ ...call, origin: 'http://x' }, signal), /no way leads to http:\/\/x/)
  stop.abort()
  await rejects(kubelets.call(call, signal), /no kubelet of node "n" answers/)
})

/** Answers with what was asked. */
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

async function withPod(kubelets: EchoKubelets): Promise<Harness> {
  const server = await startServer(undefined, { kubelets })
  const ports = [{ name: 'http', containerPort: 8080 }]
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', ports }] }
  await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
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
  ['a pod by a number', 'GET', `${pods}/p:81/proxy`, undefined, 'GET http://10.0.0.7:81/'],
  ['a pod by a name', 'PUT', `${pods}/http:p:http/proxy/x`, 'y', 'PUT http://10.0.0.7:8080/x y'],
]
for (const [why, method, target, body, asked] of passed)
  test(`passed on: ${why}`, async () => {
    const kubelets = new EchoKubelets()
    await using server = await withPod(kubelets)
    equal((await server.call(method, target, body)).status, 200)
    deepEqual(kubelets.asked, [asked])
  })

const refusals: [why: string, status: number, text: string, code: number, reason: string, message: string][] = [
  [
    'waits',
    400,
    'container "c" in pod "p" is waiting to start: ContainerCreating',
    400,
    'BadRequest',
    'container "c" in pod "p" is waiting to start: ContainerCreating',
  ],
  ['broke', 500, 'oops', 500, 'InternalError', 'Internal error occurred: oops'],
  [
    'does not have it',
    404,
    'pod "p" does not exist',
    404,
    'NotFound',
    'the server could not find the requested resource ( pods p)',
  ],
  [
    'does not know us',
    401,
    'Unauthorized',
    401,
    'Unauthorized',
    'the server has asked for the client to provide credentials',
  ],
  ['does not let us', 403, 'Forbidden (user=x)', 403, 'Forbidden', 'Forbidden (user=x)'],
]
for (const [why, status, text, code, reason, message] of refusals)
  test(`a kubelet that refuses logs: it ${why}`, async () => {
    const kubelets = Object.assign(new EchoKubelets(), { status, body: text })
    await using server = await withPod(kubelets)
    const { status: got, body } = await server.call('GET', `${pods}/p/log`)
    deepEqual([got, body.reason, body.message], [code, reason, message])
  })

test('options of logs are checked', async () => {
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

test('a service is reached at one of its ready endpoints', async () => {
  const kubelets = new EchoKubelets()
  await using server = await withPod(kubelets)
  const at = '/api/v1/namespaces/default/services'
  const ports = [{ name: 'web', port: 80 }]
  await server.call('POST', at, { metadata: { name: 's' }, spec: { ports } })
  const message = async (name: string) => (await server.call('GET', `${at}/${name}/proxy/x`)).body.message
  equal(await message('s'), 'no endpoints available for service "s"')
  equal(await message('s:other'), 'no service port "other" found for service "s"')
  await server.call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.8'], conditions: { ready: false } }, { addresses: ['10.0.0.9'] }],
    ports: [{ name: 'web', port: 8080 }],
  })
  equal((await server.call('GET', `${at}/s:web/proxy/x`)).status, 200)
  deepEqual(kubelets.asked, ['GET http://10.0.0.9:8080/x'])
})

test('nothing on the own machine is reached as a pod, and only over http', async () => {
  await using server = await withPod(new EchoKubelets())
  const message = async (name: string) => (await server.call('GET', `${pods}/${name}/proxy/`)).body.message
  await server.call(
    'PATCH',
    `${pods}/p/status`,
    { status: { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] } },
    merge,
  )
  equal(await message('p'), 'address not allowed')
  match(await message('https:p:1'), /only http is passed on/)
  match(await message('p:x'), /invalid port "x"/)
})
