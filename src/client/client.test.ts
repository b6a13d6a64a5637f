// The client over both transports, and informers over HTTPS.
import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../base/time/clock.ts'
import { context } from '../base/observability/context.ts'
import { causeOf, type FlowId } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { systemRandom } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { configMap, type ConfigMap } from '../api/core/v1/config-map.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import type { Kind } from '../api/kind/kind.ts'
import { hasReason } from '../api/errors/status-error.ts'
import { Cluster } from '../cluster/run/cluster.ts'
import { temporaryCertificates } from '../cluster/certificates/cluster-certificates.ts'
import { serve } from '../cluster/run/serve.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { MemoryStore } from '../store/memory-store.ts'
import { Client } from './client.ts'
import { discover } from './discovery.ts'
import { HttpsTransport, pathOf } from './transport/https-transport.ts'
import { Informer } from './informer/informer.ts'
import type { ApiCall } from './transport/transport.ts'
import { openPolicies } from '../apiserver/open-policies.ts'

const ctx = context(new AbortController().signal)

/** A cluster with a real HTTPS port, and a client for it. */
async function served() {
  const store = new MemoryStore(realClock)
  const cluster = new Cluster({
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    store,
    policies: () => openPolicies,
    nodes: 0,
  })
  cluster.start()
  const certificates = temporaryCertificates({
    platform: nodePlatform,
    clock: realClock,
    random: systemRandom,
    hosts: [],
  })
  const server = await serve(cluster, {
    host: '127.0.0.1',
    port: 0,
    certificates,
    platform: nodePlatform,
    clock: realClock,
    log: silentLog,
  })
  await cluster.ready
  const { authority, identity } = server.access
  const outbound = nodePlatform.outbound.connect({
    origin: server.url,
    tls: { authority, certificate: identity.certificate, key: identity.key },
  })
  return {
    cluster,
    client: new Client(new HttpsTransport(outbound, 'controller/tested')),
    async [Symbol.asyncDispose]() {
      await outbound.close()
      await server.close(0)
      await cluster.stop()
    },
  }
}

/** Calls whose results must be equal over both transports. */
async function exercise(client: Client): Promise<string[]> {
  const maps = client.of(configMap)
  const made = await maps.create({ metadata: { name: 'a', labels: { of: 'test' } }, data: { x: '1' } }, 'default', ctx)
  const changed = await maps.update({ ...made, data: { x: '2' } }, ctx)
  const patched = await maps.patch('a', 'default', { data: { y: '3' } }, 'merge', ctx)
  const conflict = await maps.update({ ...made, data: {} }, ctx).catch((error: unknown) => hasReason(error, 'Conflict'))
  const { items } = await maps.list({ namespace: 'default', labelSelector: 'of=test,!none', limit: 5 }, ctx)
  await maps.delete('a', 'default', { uid: made.metadata.uid }, ctx)
  const gone = await maps.find('a', 'default', ctx)
  const applied = await maps.apply({ metadata: { name: 'b' }, data: { x: '1' } }, { fieldManager: 'one' }, ctx)
  const forced = await maps.apply({ metadata: { name: 'b' }, data: { x: '2' } }, { fieldManager: 'two', force: true })
  await maps.delete('b')
  return [
    made.data?.['x'],
    changed.data?.['x'],
    JSON.stringify(patched.data),
    conflict,
    items.map(({ kind }) => kind).join(),
    gone,
    applied.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).join(),
    forced.data?.['x'],
  ].map(String)
}

const expected = ['1', '2', '{"x":"2","y":"3"}', 'true', 'ConfigMap', 'undefined', 'one Apply', '2']

test('calls over the direct transport', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  deepEqual(await exercise(cluster.client), expected)
})

test('the same calls over HTTPS; the sender and the cause are recorded', async () => {
  await using server = await served()
  deepEqual(await exercise(server.client), expected)
  const woken = context(ctx.signal, causeOf(5 as FlowId, 77))
  await server.client.of(configMap).create({ metadata: { name: 'b' } }, 'default', woken)
  const call = [...server.cluster.flow.events()].findLast(({ from }) => from === 'controller/tested')
  deepEqual([call?.what, call?.cause.revisions], ['create configmaps', [77]])
  await rejects(server.client.of(configMap).get('none', 'default', ctx), /configmaps "none" not found/)
  await rejects(
    server.client.of(pod).createSubresource('none', 'default', 'binding', { target: { name: 'n' } }, ctx),
    /pods "none" not found/,
  )
})

test('an informer over HTTPS follows changes', async () => {
  await using server = await served()
  await using tasks = new TaskGroup()
  const informer = new Informer<ConfigMap>(configMap, server.client.of(configMap), {
    clock: realClock,
    random: systemRandom,
    log: silentLog,
  })
  const second = Promise.withResolvers<void>()
  informer.onChange(({ key }) => key === 'default/b' && second.resolve())
  await server.client.of(configMap).create({ metadata: { name: 'a' } }, 'default', ctx)
  tasks.start('informer', (signal) => informer.run(signal))
  await informer.synced
  await server.client.of(configMap).create({ metadata: { name: 'b' } }, 'default', ctx)
  await second.promise
  deepEqual(
    [...informer.all()].map(({ metadata }) => metadata.name),
    ['a', 'b'],
  )
})

test('metadata-only reads and discovery over HTTPS', async () => {
  await using server = await served()
  await using tasks = new TaskGroup()
  await server.client.of(configMap).create({ metadata: { name: 'a' }, data: { x: '1' } }, 'default', ctx)
  const metadata = server.client.metadataOf(configMap)
  const informer = new Informer(configMap, metadata, { clock: realClock, random: systemRandom, log: silentLog })
  const second = Promise.withResolvers<object>()
  informer.onChange(({ key, now = {} }) => key === 'default/b' && second.resolve(now))
  tasks.start('informer', (signal) => informer.run(signal))
  await informer.synced
  await server.client.of(configMap).create({ metadata: { name: 'b' }, data: { x: '1' } }, 'default', ctx)
  for (const found of [informer.get('default/a'), await second.promise, await metadata.get('a', 'default', ctx)])
    deepEqual(Object.entries({ ...found, metadata: {} }), [
      ['kind', 'ConfigMap'],
      ['apiVersion', 'v1'],
      ['metadata', {}],
    ])
  const { kinds, failing } = await discover(server.client, ctx)
  const found = kinds.find(({ kind }) => kind === (configMap as unknown as Kind))
  deepEqual([found?.isPreferred, found?.verbs.includes('watch'), failing], [true, true, []])
  const scalers = kinds.filter(({ kind }) => kind.plural === 'horizontalpodautoscalers')
  deepEqual(
    scalers.map(({ kind, isPreferred }) => [kind.version, isPreferred]),
    [
      ['v2', true],
      ['v1', false],
    ],
  )
})

test('paths of requests', () => {
  const call = (parts: Partial<ApiCall>): string =>
    pathOf({ kind: pod, namespace: '', name: '', subresource: '', query: {}, ...parts })
  equal(call({}), '/api/v1/pods')
  equal(
    call({ namespace: 'a b', name: 'c/d', subresource: 'status', query: { x: '1&2' } }),
    '/api/v1/namespaces/a%20b/pods/c%2Fd/status?x=1%262',
  )
  throws(() => call({ namespace: 'a', name: '..' }), { message: `invalid resource name "..": [may not be '..']` })
  throws(() => call({ namespace: '.', name: 'a' }), { message: `invalid namespace ".": [may not be '.']` })
})
