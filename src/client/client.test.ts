// The client over both transports, and informers over HTTPS.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../base/time/clock.ts'
import { context } from '../base/observability/context.ts'
import { causeOf, type FlowId } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { systemRandom } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { configMap, type ConfigMap } from '../api/core/v1/config-map.ts'
import { pod } from '../api/core/v1/pod/pod.ts'
import type { Kind } from '../api/kind/kind.ts'
import { expired, hasReason } from '../api/errors/status-error.ts'
import { Cluster } from '../cluster/run/cluster.ts'
import { temporaryCertificates } from '../cluster/certificates/cluster-certificates.ts'
import { serve } from '../cluster/run/serve.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import { openPolicies } from '../apiserver/filters/policies.ts'
import { MemoryStore } from '../store/memory-store.ts'
import { Client } from './client.ts'
import { discover } from './discovery.ts'
import { HttpsTransport, pathOf } from './transport/https-transport.ts'
import { byNamespace, byOwnerUid, Informer } from './informer/informer.ts'
import { Informers } from './informer/informers.ts'
import type { ApiCall, ClientEvent, Transport } from './transport/transport.ts'

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
  const made = await maps.create({ metadata: { name: 'a' }, data: { x: '1' } }, 'default', ctx)
  const changed = await maps.update({ ...made, data: { x: '2' } }, ctx)
  const patched = await maps.patch('a', 'default', { data: { y: '3' } }, 'merge', ctx)
  const conflict = await maps.update({ ...made, data: {} }, ctx).catch((error: unknown) => hasReason(error, 'Conflict'))
  const { items } = await maps.list({ namespace: 'default', labelSelector: '!none', limit: 5 }, ctx)
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
  const informer = new Informer<ConfigMap>(configMap, server.client.of(configMap), { clock: realClock, log: silentLog })
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
  const informer = new Informer(configMap, metadata, { clock: realClock, log: silentLog })
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
})

const object = (name: string, version: number, extra: object = {}): ConfigMap => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    resourceVersion: String(version),
    creationTimestamp: '',
    ...extra,
  },
})

/** A transport that plays a script: each list and each watch takes the next entry. */
function scripted(lists: { items: ConfigMap[]; revision: number }[], watches: (ClientEvent | Error)[][]) {
  const asked: string[] = []
  const transport: Transport = {
    read: () => Promise.reject(new Error('not scripted')),
    send: () => Promise.reject(new Error('not scripted')),
    list: () => {
      asked.push('list')
      const next = lists.shift()
      return next === undefined
        ? Promise.reject(new Error('no more lists'))
        : Promise.resolve({ ...next, continueToken: '' })
    },
    async *watch({ query }) {
      asked.push(`watch ${query['resourceVersion']}`)
      for (const entry of watches.shift() ?? [])
        if (entry instanceof Error) throw entry
        else yield [entry]
      if (watches.length === 0) await new Promise(() => {})
    },
  }
  return { client: new Client(transport), asked }
}

const seen = (type: 'ADDED' | 'MODIFIED' | 'DELETED', item: ConfigMap): ClientEvent => ({
  type,
  object: item,
  cause: causeOf(1 as FlowId, 1),
})

async function followed(lists: Parameters<typeof scripted>[0], watches: Parameters<typeof scripted>[1]) {
  const clock = new VirtualClock()
  const { client, asked } = scripted(lists, watches)
  const informer = new Informer<ConfigMap>(configMap, client.of(configMap), { clock, log: silentLog })
  const changes: string[] = []
  informer.addIndex('owner', byOwnerUid)
  informer.addIndex('namespace', byNamespace)
  informer.onChange(({ key, now, before }) =>
    changes.push(`${key} ${before?.metadata.resourceVersion ?? '-'}→${now?.metadata.resourceVersion ?? '-'}`),
  )
  const controller = new AbortController()
  const running = informer.run(controller.signal).catch(() => {})
  await clock.advance('10s')
  controller.abort()
  return { informer, asked, changes, running }
}

test('a watch that ends is resumed where it was', async () => {
  const { asked, changes } = await followed(
    [{ items: [object('a', 5)], revision: 6 }],
    [[seen('MODIFIED', object('a', 7)), { type: 'BOOKMARK', revision: 9 }], [seen('DELETED', object('a', 10))]],
  )
  deepEqual(asked, ['list', 'watch 6', 'watch 9'])
  deepEqual(changes, ['default/a -→5', 'default/a 5→7', 'default/a 7→-'])
})

test('410 means list again, and the difference is told', async () => {
  const lists = [
    { items: [object('a', 1), object('b', 2)], revision: 3 },
    { items: [object('b', 2), object('c', 8)], revision: 9 },
  ]
  const { asked, changes, informer } = await followed(lists, [[expired('too old')], []])
  deepEqual(asked, ['list', 'watch 3', 'list', 'watch 9'])
  deepEqual(changes, ['default/a -→1', 'default/b -→2', 'default/a 1→-', 'default/c -→8'])
  equal(informer.revision, 9)
})

test('other failures are tried again after a while, from the same place', async () => {
  const { asked } = await followed([{ items: [], revision: 3 }], [[new Error('reset')], [new Error('reset')], []])
  deepEqual(asked, ['list', 'watch 3', 'watch 3', 'watch 3'])
})

test('indices follow the objects', async () => {
  const owned = (version: number, ...uids: string[]) =>
    object('a', version, { ownerReferences: uids.map((uid) => ({ uid, name: uid, kind: 'X', apiVersion: 'v1' })) })
  const { informer } = await followed(
    [{ items: [owned(1, 'x')], revision: 1 }],
    [[seen('MODIFIED', owned(2, 'y', 'z'))]],
  )
  deepEqual(
    ['x', 'y', 'z'].map((uid) => informer.byIndex('owner', uid).length),
    [0, 1, 1],
  )
  equal(informer.byIndex('namespace', 'default').length, 1)
  const late: string[] = []
  informer.onChange(({ key }) => late.push(key))
  deepEqual(late, ['default/a'], 'who comes late hears of what is there')
})

test('informers are shared by kind and say when all are synced', async () => {
  const tasks = new TaskGroup()
  const { client, asked } = scripted([{ items: [], revision: 1 }], [[]])
  const informers = new Informers(client, { clock: new VirtualClock(), log: silentLog }, tasks)
  equal(informers.of(configMap), informers.of(configMap))
  await informers.synced()
  deepEqual(asked[0], 'list')
  tasks.stop()
})
