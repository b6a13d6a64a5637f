// Key rotation under load: writers and readers work while the plugin changes its key, fails and restarts. No object may
// be lost or become unreadable, and at the end everything can be moved to the newest key.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../base/observability/log.ts'
import { Metrics } from '../../../base/observability/metrics.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { nodeCrypto } from '../../../platform/node/crypto.ts'
import { nodeHttp2 } from '../../../platform/node/http/http2-client.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import { startServer } from '../../server.harness.ts'
import { EncryptedStore } from '../encrypted-store.ts'
import { identity } from '../ciphers/value-cipher.ts'
import { DataKeyMetrics } from './data-key-metrics.ts'
import { FakePlugin } from './kms-plugin.harness.ts'
import { KmsProvider } from './kms-provider.ts'
import { openPolicies } from '../../open-policies.ts'

const { signal } = new AbortController()
const secrets = '/api/v1/namespaces/default/secrets'
const writers = 4
const secretsOfEach = 10
const rotations = 6

const providerOf = (plugin: FakePlugin, clock: VirtualClock, seed: number) =>
  new KmsProvider(
    { name: 'fake', endpoint: plugin.endpoint, timeoutMs: 3_000 },
    {
      crypto: nodeCrypto,
      random: seededRandom(seed),
      http2: nodeHttp2,
      clock,
      log: silentLog,
      dataKeyMetrics: new DataKeyMetrics(new Metrics(), clock),
    },
  )
const storeOf = (inner: MemoryStore, provider: KmsProvider) =>
  new EncryptedStore(inner, [{ resources: ['secrets'], ciphers: [provider, identity] }])

test('keys rotate while two servers write and read, and no object is lost or unreadable', async () => {
  await using plugin = await FakePlugin.start()
  const clock = new VirtualClock()
  const inner = new MemoryStore(clock)
  const providers = [providerOf(plugin, clock, 1), providerOf(plugin, clock, 2)] as const
  for (const provider of providers) await provider.probe()
  const [one, two] = providers
  await using first = await startServer(openPolicies, { store: storeOf(inner, one), clock })
  await using second = await startServer(openPolicies, { store: storeOf(inner, two), clock })
  const written = new Map<string, string>()
  const statuses = new Set<number>()
  const keysUsed = new Set<string>()
  const rotated = new AbortController()
  const write = async (writer: number) => {
    const { call } = writer % 2 === 0 ? first : second
    for (let i = 0; !rotated.signal.aborted || i < secretsOfEach; i++) {
      await eventLoopTurn() // the plugin responds over a socket
      const name = `secret-${writer}-${i % secretsOfEach}`
      const word = Buffer.from(`${writer} ${i}`).toString('base64')
      const body = { metadata: { name }, data: { word } }
      const answer = written.has(name)
        ? await call('PUT', `${secrets}/${name}`, body)
        : await call('POST', secrets, body)
      statuses.add(answer.status)
      written.set(name, word)
      const kept = await inner.get(`/registry/secrets/default/${name}`, signal)
      if (kept !== undefined) keysUsed.add(one.keyVersionOf(kept.value))
      const read = await call('GET', `${secrets}/${name}`)
      equal(read.body.data?.word, word, `${name} at ${i}: ${JSON.stringify(read.body)}`)
    }
  }
  const rotate = async () => {
    for (let i = 2; i < 2 + rotations; i++) {
      plugin.keyId = `key-${i}`
      // One server learns of the new key before the other.
      await one.probe()
      await two.probe()
      if (i === 4) {
        await plugin.stop()
        await plugin.start()
      }
    }
    rotated.abort()
  }
  await Promise.all([...Array.from({ length: writers }, (_, writer) => write(writer)), rotate()])
  deepEqual([...statuses].toSorted(), [200, 201])
  equal(keysUsed.size, rotations + 1, 'every key was written with while it was current')

  const fresh = providerOf(plugin, clock, 3)
  await fresh.probe()
  await using later = await startServer(openPolicies, { store: storeOf(inner, fresh), clock })
  const { body } = await later.call('GET', secrets)
  deepEqual(
    new Map(
      body.items.map((item: { metadata: { name: string }; data: { word: string } }) => [
        item.metadata.name,
        item.data.word,
      ]),
    ),
    written,
  )
  for (const item of body.items) equal((await later.call('PUT', `${secrets}/${item.metadata.name}`, item)).status, 200)
  const { items } = await inner.range({ start: '/registry/secrets/', end: '/registry/secrets0' }, signal)
  equal(items.length, written.size)
  ok(
    items.every(({ value }) => fresh.keyVersionOf(value) === fresh.keyVersion),
    'all are written under the newest key',
  )
  for (const provider of [...providers, fresh]) provider.close()
})

test('an update without changes is stored again with the new key, once', async () => {
  await using plugin = await FakePlugin.start()
  const clock = new VirtualClock()
  const inner = new MemoryStore(clock)
  const provider = providerOf(plugin, clock, 1)
  await provider.probe()
  await using api = await startServer(openPolicies, { store: storeOf(inner, provider), clock })
  const made = (await api.call('POST', secrets, { metadata: { name: 'a' }, data: { word: 'eA==' } })).body
  const rewrite = async () => (await api.call('PUT', `${secrets}/a`, made)).body.metadata.resourceVersion as string
  const versionBefore = await rewrite()
  equal(versionBefore, made.metadata.resourceVersion)
  plugin.keyId = 'key-2'
  await provider.probe()
  delete made.metadata.resourceVersion
  const versionAfter = await rewrite()
  ok(Number(versionAfter) > Number(versionBefore))
  equal(await rewrite(), versionAfter)
  provider.close()
})

test('a server without its plugin responds and is live, but is not ready', async () => {
  await using plugin = await FakePlugin.start()
  await plugin.stop()
  const clock = new VirtualClock()
  const provider = providerOf(plugin, clock, 1)
  const kmsCheck = { name: 'kms-providers', check: (stop: AbortSignal) => provider.check(stop) }
  const store = storeOf(new MemoryStore(clock), provider)
  await using api = await startServer(openPolicies, { store, clock, kmsCheck })
  const ready = await api.call('GET', '/readyz')
  equal(ready.status, 500)
  ok(String(ready.body).includes('[+]etcd-readiness ok\n[-]kms-providers failed: reason withheld\n[+]informer-sync ok'))
  equal((await api.call('GET', '/healthz/kms-providers')).status, 500)
  equal((await api.call('GET', '/livez')).status, 200)
  equal((await api.call('GET', '/livez/kms-providers')).status, 404)
  const refused = await api.call('POST', secrets, { metadata: { name: 'a' } })
  deepEqual(
    [refused.status, refused.body.message],
    [500, 'Internal error occurred: KMS provider "fake": there is no data encryption key yet'],
  )
  equal((await api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })).status, 201)
  await plugin.start()
  await clock.advance('3s')
  equal((await api.call('GET', '/readyz')).status, 200)
  equal((await api.call('POST', secrets, { metadata: { name: 'a' } })).status, 201)
  provider.close()
})
