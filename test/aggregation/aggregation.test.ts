// An extension server behind an APIService: streams, failures, controllers, and the metrics API.
import { deepEqual, equal, match } from 'node:assert/strict'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { apiService } from '../../src/api/apiregistration/v1/api-service.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { bareKind } from '../../src/api/kind/bare-kind.ts'
import { nodeMetrics } from '../../src/api/metrics/v1beta1/node-metrics.ts'
import { startCluster, type TestCluster } from '../../src/cluster/testing/start-cluster.ts'
import { parseKubeconfig, type Kubeconfig } from '../../src/pki/kubeconfig.ts'
import { wireClient } from '../custom-resources/wire-client.ts'
import { until } from '../until.ts'
import { ExtensionServer } from './extension-server.ts'

const ctx = context(new AbortController().signal)
const group = 'garden.example.com'
const flowers = `/apis/${group}/v1/namespaces/default/flowers`
const flower = bareKind({
  group,
  version: 'v1',
  kind: 'Flower',
  plural: 'flowers',
  singular: 'flower',
  namespaced: true,
})

const registered = (extension: ExtensionServer, of = group, version = 'v1') => ({
  metadata: { name: `${version}.${of}` },
  spec: {
    group: of,
    version,
    groupPriorityMinimum: 2000,
    versionPriority: 10,
    caBundle: extension.caBundle,
    service: { name: 'garden', namespace: 'default', port: extension.port },
  },
})

const availableReason = async (cluster: TestCluster, name: string): Promise<string | undefined> => {
  const found = await cluster.client.of(apiService).find(name, '', ctx)
  return found?.status.conditions?.[0]?.reason
}

/** A cluster with the extension server, once its discovery is complete. */
async function startGarden(options: Parameters<typeof startCluster>[0] = {}) {
  const stack = new AsyncDisposableStack()
  const extension = stack.use(
    await ExtensionServer.start({
      group,
      versions: ['v1', 'v2'],
      serverName: 'garden.default.svc',
      isAggregated: true,
    }),
  )
  const cluster = stack.use(await startCluster({ time: 'flowing', nodes: 0, controllerManagers: 0, ...options }))
  await cluster.client
    .of(service)
    .create({ metadata: { name: 'garden' }, spec: { type: 'ExternalName', externalName: '127.0.0.1' } }, 'default', ctx)
  await cluster.client.of(apiService).create(registered(extension), '', ctx)
  const access = parseKubeconfig(cluster.kubeconfig)
  const client = stack.use(
    wireClient({ origin: access.server, tls: { authority: access.authority, ...access.identity } }),
  )
  const get = (path: string, headers = {}) =>
    client.send({ method: 'GET', path, headers, body: undefined, events: undefined })
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const isServed = async () => JSON.stringify((await get('/apis', { accept })).body).includes('"resource":"flowers"')
  await until(isServed)
  return { cluster, extension, client, get, access, accept, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

interface Upgraded {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Undefined where the server did not switch protocols. */
  readonly socket: Duplex | undefined
}

/** Requests an upgrade, as kubectl does. */
async function upgraded({ server, authority: ca, identity }: Kubeconfig, path: string): Promise<Upgraded> {
  const { hostname, port } = new URL(server)
  const sent = request({
    hostname,
    port,
    path,
    ca,
    cert: identity.certificate,
    key: identity.key,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-remote-user': 'evil' },
  })
  sent.end()
  return new Promise((resolve, reject) => {
    const found = ({ statusCode = 0, headers }: IncomingMessage, socket?: Duplex) =>
      resolve({ status: statusCode, headers, socket })
    sent.on('upgrade', found)
    sent.on('response', (response) => {
      response.resume()
      found(response)
    })
    sent.on('error', reject)
  })
}

test('an upgrade reaches the extension server, and bytes flow in both directions', async () => {
  await using garden = await startGarden()
  const { headers, socket } = await upgraded(garden.access, `${flowers}/rose/attach`)
  equal(headers.upgrade, 'SPDY/3.1')
  equal(headers['x-user'], 'kubernetes-admin')
  const echoed = new Promise((resolve) => socket?.once('data', (bytes: Buffer) => resolve(bytes.toString())))
  socket?.write('hello')
  equal(await echoed, 'hello')
  socket?.on('error', () => {}).destroy()
})

test('an upgrade that the extension server refuses is answered with its response', async () => {
  await using garden = await startGarden()
  const { status, socket } = await upgraded(garden.access, `${flowers}/rose/refused`)
  deepEqual([status, socket], [403, undefined])
})

test('a watch is streamed, and ends at the extension server when the client leaves', async () => {
  await using garden = await startGarden()
  const { client, extension } = garden
  const events = client.send({ method: 'GET', path: `${flowers}?watch=true`, headers: {}, body: undefined, events: 2 })
  await until(() => extension.watches === 1)
  for (const name of ['rose', 'tulip'])
    await client.send({
      method: 'POST',
      path: flowers,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name } }),
      events: undefined,
    })
  const { body } = await events
  deepEqual(
    body.map((event: { type: string; object: { metadata: { name: string } } }) => [
      event.type,
      event.object.metadata.name,
    ]),
    [
      ['ADDED', 'rose'],
      ['ADDED', 'tulip'],
    ],
  )
  await until(() => extension.watches === 0)
})

test('clients that see that an extension is available find its resources, even while its OpenAPI is read', async () => {
  await using garden = await startGarden()
  const { cluster, extension, get, accept } = garden
  extension.hasSilentOpenApi = true
  await cluster.client.of(apiService).create(registered(extension, group, 'v2'), '', ctx)
  await until(async () => (await availableReason(cluster, `v2.${group}`)) === 'Passed')
  const { body } = await get('/apis', { accept })
  const { items } = body as unknown as { items: { metadata: { name: string }; versions: object[] }[] }
  const versions = items.find(({ metadata }) => metadata.name === group)?.versions ?? []
  deepEqual(
    versions.map((each) => JSON.stringify(each).includes('"freshness":"Current"')),
    [true, true],
  )
})

test('with the extension server killed under load, errors name it, other APIs work, and it is back within a second', async () => {
  await using garden = await startGarden()
  const { cluster, extension, get } = garden
  const seen = { ok: 0, failed: 0 }
  const other: number[] = []
  const loading = new AbortController()
  const load = async () => {
    while (!loading.signal.aborted) {
      const [answer, core] = await Promise.all([get(flowers), get('/api/v1/namespaces/default')])
      other.push(core.status)
      if (answer.status === 200) seen.ok++
      else {
        seen.failed++
        equal(answer.status, 503)
        match(answer.body, /^(service unavailable|error trying to reach service: .+)\n$/)
        match(answer.headers['warning'] ?? '', /the server of APIService v1\.garden\.example\.com is not available/)
      }
    }
  }
  const loads = Array.from({ length: 8 }, load)
  await until(() => seen.ok > 50)
  await extension.stop()
  await until(() => seen.failed > 50)
  await until(async () => (await availableReason(cluster, 'v1.garden.example.com')) === 'FailedDiscoveryCheck')
  const { body } = await get('/apis', { accept: garden.accept })
  match(JSON.stringify(body), /"version":"v1","freshness":"Stale"/)
  await extension.start()
  const before = seen.ok
  await cluster.clock.advance('1s')
  await until(() => seen.ok > before)
  loading.abort()
  await Promise.all(loads)
  deepEqual([...new Set(other)], [200])
})

test('a namespace is deleted only when the extension server has deleted its objects', async () => {
  await using garden = await startGarden({ controllerManagers: 1 })
  const { cluster, extension } = garden
  await cluster.client.of(namespace).create({ metadata: { name: 'shop' } }, '', ctx)
  await cluster.client.of(flower).create({ metadata: { name: 'rose' } }, 'shop', ctx)
  await extension.stop()
  await until(async () => {
    await garden.get(flowers)
    return (await availableReason(cluster, 'v1.garden.example.com')) === 'FailedDiscoveryCheck'
  })
  await cluster.client.of(namespace).delete('shop', '', {}, ctx)
  const failure = async () => {
    const found = await cluster.client.of(namespace).find('shop', '', ctx)
    return found?.status.conditions?.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')
  }
  await until(async () => (await failure())?.status === 'True')
  deepEqual(
    [(await failure())?.reason, (await failure())?.message],
    [
      'DiscoveryFailed',
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: garden.example.com/v1: stale GroupVersion discovery: garden.example.com/v1',
    ],
  )
  await extension.start()
  await until(async () => (await cluster.client.of(namespace).find('shop', '', ctx)) === undefined)
  equal(
    extension.requests.some((each) => each.startsWith('DELETE ') && each.includes('/namespaces/shop/flowers')),
    true,
  )
})

test('an object whose owner an unavailable extension serves is not collected', async () => {
  await using garden = await startGarden({ controllerManagers: 1 })
  const { cluster, extension } = garden
  const owned = (name: string, apiVersion: string, kind: string) => ({
    metadata: { name, ownerReferences: [{ apiVersion, kind, name: 'gone', uid: 'no-such-uid' }] },
  })
  await extension.stop()
  await until(async () => {
    await garden.get(flowers)
    return (await availableReason(cluster, 'v1.garden.example.com')) === 'FailedDiscoveryCheck'
  })
  const maps = cluster.client.of(configMap)
  await maps.create(owned('of-flower', `${group}/v1`, 'Flower'), 'default', ctx)
  await maps.create(owned('of-map', 'v1', 'ConfigMap'), 'default', ctx)
  await until(async () => (await maps.find('of-map', 'default', ctx)) === undefined)
  equal((await maps.find('of-flower', 'default', ctx))?.metadata.name, 'of-flower')
})

test('the metrics API is an APIService, which a user can replace and gets back', async () => {
  await using extension = await ExtensionServer.start({
    group: 'metrics.k8s.io',
    versions: ['v1beta1'],
    serverName: 'garden.default.svc',
  })
  await using cluster = await startCluster({ time: 'flowing', nodes: 1 })
  const services = cluster.client.of(apiService)
  const name = 'v1beta1.metrics.k8s.io'
  equal(await availableReason(cluster, name), 'Local')
  const names = async () =>
    (await cluster.client.of(nodeMetrics).list({}, ctx)).items.map(({ metadata }) => metadata.name)
  await until(async () => (await names()).join() === 'node-0')
  await cluster.client
    .of(service)
    .create({ metadata: { name: 'garden' }, spec: { type: 'ExternalName', externalName: '127.0.0.1' } }, 'default', ctx)
  await services.patch(name, '', { spec: registered(extension, 'metrics.k8s.io', 'v1beta1').spec }, 'merge', ctx)
  await until(async () => (await availableReason(cluster, name)) === 'Passed')
  extension.requests.length = 0
  await cluster.client
    .of(nodeMetrics)
    .list({}, ctx)
    .catch(() => {})
  equal(extension.requests.includes('GET /apis/metrics.k8s.io/v1beta1/nodes'), true)
  await services.delete(name, '', {}, ctx)
  await until(async () => (await availableReason(cluster, name)) === 'Local')
  deepEqual(await names(), ['node-0'])
})
