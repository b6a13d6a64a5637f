// KMS v2 with a plugin on a unix socket: what is stored, key rotation, failures of the plugin, and hostile responses.
import { deepEqual, equal, notEqual, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock, type Clock } from '../../../base/time/clock.ts'
import { silentLog } from '../../../base/observability/log.ts'
import { Metrics } from '../../../base/observability/metrics.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { nodeCrypto } from '../../../platform/node/crypto.ts'
import { nodeHttp2 } from '../../../platform/node/http/http2-client.ts'
import { MemoryStore } from '../../../store/memory-store.ts'
import type { Store } from '../../../store/store.ts'
import { encodeProto } from '../../../wire/protobuf/encode-proto.ts'
import { EncryptedStore } from '../encrypted-store.ts'
import { identity } from '../ciphers/value-cipher.ts'
import { DataKeyMetrics } from './data-key-metrics.ts'
import { FakePlugin, wrapped } from './kms-plugin.harness.ts'
import { KmsProvider } from './kms-provider.ts'
import { encryptedObject } from './kms-messages.ts'

const { signal } = new AbortController()
const path = '/registry/secrets/default/a'
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)

const providerOf = (plugin: FakePlugin, clock: Clock, { seed = 1, timeoutMs = 3_000, metrics = new Metrics() } = {}) =>
  new KmsProvider(
    { name: 'fake', endpoint: plugin.endpoint, timeoutMs },
    {
      crypto: nodeCrypto,
      random: seededRandom(seed),
      http2: nodeHttp2,
      clock,
      log: silentLog,
      dataKeyMetrics: new DataKeyMetrics(metrics, clock),
    },
  )
const storeOf = (inner: Store, provider: KmsProvider) =>
  new EncryptedStore(inner, [{ resources: ['secrets'], ciphers: [provider, identity] }])
const put = (store: Store, value: string, key = path) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: bytes(value) }] }, signal)

/** A plugin, and a provider that has requested its status once. */
async function started(clock: Clock = new VirtualClock(), options = {}) {
  const plugin = await FakePlugin.start()
  const provider = providerOf(plugin, clock, options)
  await provider.probe()
  return {
    plugin,
    provider,
    async [Symbol.asyncDispose]() {
      provider.close()
      await plugin[Symbol.asyncDispose]()
    },
  }
}

test('values that kube-apiserver v1.36.4 wrote with the same plugin are read', async () => {
  await using kms = await started()
  const sealed = Uint8Array.fromBase64(
    'azhzOmVuYzprbXM6djI6ZmFrZToKiAK9ur6TnxkTqY2zaz20dycyoBDM96QiYUHil8Nt2m2QyMzZTzTY6Eef4dOHSMzDJb7dVRcbKs4/6KdEB00gBCHo5z9pvrpHJkfLIeCaXR25sllf3ZgytLPKKvvaG/XKS56ZoLY/xJgd3BgjN/q2krmb8moG2T9C3LncshV9+4oJL2Ra5WoQyyTUMzJzz7HbtoOa6lJxDqrnEXZwVOi3gZjIBYJhZ8RgLmXmHM6LJ4fJ561fJbOl7pRjyxaLGVkKmnTn4xicKG7psaCzwy5OWf1e28Yj81mRLEJbDcut3jqn4fQcuqOexbIB3DcPZ/WLXWToLCEFL4sDo8iLbubF4khhxfUwatXcl5QSBWtleS0xGiDHeoeOg5nUD2GzuRg8LvikAuYB5Z0eBHdq5oy42IKFkSIYChN2ZXJzaW9uLmV4YW1wbGUuY29tEgExKAE=',
  )
  const value = await kms.provider.open(sealed, path)
  ok(text(value).startsWith('k8s\0') && text(value).includes('hidden'))
  await rejects(async () => kms.provider.open(sealed, '/registry/secrets/default/b'), /KMS provider "fake": the value/)
})

test('a value under a plain AES-GCM key, as Kubernetes before 1.29 wrote it, is read', async () => {
  await using kms = await started()
  const key = new Uint8Array(32).fill(7)
  const nonce = new Uint8Array(12).fill(3)
  const data = nodeCrypto.seal('aesgcm', key, nonce, bytes('old'), bytes(path))
  const object = encodeProto(encryptedObject, {
    encryptedData: Buffer.concat([nonce, data]),
    keyId: 'key-0',
    encryptedDekSource: wrapped('key-0', key),
    annotations: {},
    encryptedDekSourceType: 0,
  })
  equal(text(await kms.provider.open(Buffer.concat([bytes(kms.provider.prefix), object]), path)), 'old')
})

test('in steady state neither reads nor writes call the plugin', async () => {
  await using kms = await started()
  const inner = new MemoryStore(new VirtualClock())
  const store = storeOf(inner, kms.provider)
  deepEqual(kms.plugin.calls, { status: 1, encrypt: 1, decrypt: 0 })
  for (let i = 0; i < 200; i++) await put(store, `value ${i}`, `/registry/secrets/default/${i}`)
  ok(text((await inner.get('/registry/secrets/default/7', signal))?.value).startsWith('k8s:enc:kms:v2:fake:'))
  const other = providerOf(kms.plugin, new VirtualClock(), { seed: 2 })
  await other.probe()
  const { items } = await storeOf(inner, other).range({ start: '/registry/', end: '' }, signal)
  equal(items.length, 200)
  ok(items.every(({ value }) => text(value).startsWith('value ')))
  deepEqual(kms.plugin.calls, { status: 2, encrypt: 2, decrypt: 1 }, 'all values share one encrypted seed')
  other.close()
})

test('values of many earlier starts are read in one range with a bounded number of concurrent plugin calls', async () => {
  await using plugin = await FakePlugin.start()
  const inner = new MemoryStore(new VirtualClock())
  const starts = 40
  for (let start = 0; start < starts; start++) {
    const earlier = providerOf(plugin, new VirtualClock(), { seed: start })
    await earlier.probe()
    await put(storeOf(inner, earlier), 'x', `/registry/secrets/default/${start}`)
    earlier.close()
  }
  const provider = providerOf(plugin, new VirtualClock(), { seed: starts })
  const { items } = await storeOf(inner, provider).range({ start: '/registry/', end: '' }, signal)
  equal(items.length, starts)
  equal(plugin.calls.decrypt, starts)
  ok(plugin.openMost <= 16, `${plugin.openMost} calls at once`)
  provider.close()
})

test('generated seeds are measured', async () => {
  const metrics = new Metrics()
  await using kms = await started(new VirtualClock(), { metrics })
  const generated = () => /data_key_generation_duration_seconds_count (\d+)/.exec(metrics.text())?.[1]
  equal(generated(), '1')
  await kms.provider.probe()
  equal(generated(), '1', 'the seed is still in use')
  kms.plugin.keyId = 'key-2'
  await kms.provider.probe()
  equal(generated(), '2')
})

test('the status is polled every minute, and a new key id leads to a new seed', async () => {
  const clock = new VirtualClock()
  await using kms = await started(clock)
  await using tasks = new TaskGroup()
  tasks.start('poll', (stop) => kms.provider.run(stop))
  await clock.settle()
  const inner = new MemoryStore(clock)
  const store = storeOf(inner, kms.provider)
  await put(store, 'one')
  const { status } = kms.plugin.calls
  await clock.advance('59s')
  equal(kms.plugin.calls.status, status)
  await clock.advance('1s')
  equal(kms.plugin.calls.status, status + 1)
  deepEqual(kms.plugin.calls.encrypt, 1)
  kms.plugin.keyId = 'key-2'
  await clock.advance('60s')
  equal(kms.plugin.calls.encrypt, 2)
  const item = await store.get(path, signal)
  equal(text(item?.value), 'one')
  ok(item !== undefined && store.isStale(path, item.value))
  await put(store, 'two')
  const rewritten = (await store.get(path, signal))?.value ?? new Uint8Array()
  ok(!store.isStale(path, rewritten))
  ok(text((await inner.get(path, signal))?.value).includes('key-2'))
  equal(kms.plugin.calls.decrypt, 0, 'the old seed stays in memory')
})

test('without a healthy status, writes fail after three minutes, and reads continue', async () => {
  const clock = new VirtualClock()
  await using kms = await started(clock)
  await using tasks = new TaskGroup()
  tasks.start('poll', (stop) => kms.provider.run(stop))
  await clock.settle()
  const store = storeOf(new MemoryStore(clock), kms.provider)
  await put(store, 'one')
  kms.plugin.responses = { status: () => ({ version: 'v2', healthz: 'sick', keyId: 'key-1' }) }
  await clock.advance('60s')
  await rejects(kms.provider.check(signal), /got unexpected healthz status: "sick"/)
  await put(store, 'two')
  await clock.advance('125s')
  await rejects(put(store, 'three'), /KMS provider "fake": the data encryption key has expired/)
  equal(text((await store.get(path, signal))?.value), 'two')
  kms.plugin.responses = {}
  await clock.advance('10s')
  await put(store, 'four')
  await kms.provider.check(signal)
})

test('a plugin that is missing at the start, and one that restarts', async () => {
  const clock = new VirtualClock()
  await using plugin = await FakePlugin.start()
  await plugin.stop()
  const provider = providerOf(plugin, clock)
  await using tasks = new TaskGroup()
  tasks.start('poll', (stop) => provider.run(stop))
  await provider.probe()
  const store = storeOf(new MemoryStore(clock), provider)
  await rejects(provider.check(signal))
  await rejects(put(store, 'one'), /KMS provider "fake": there is no data encryption key yet/)
  await plugin.start()
  await clock.advance('10s')
  await provider.check(signal)
  await put(store, 'one')
  await plugin.stop()
  await plugin.start()
  await clock.advance('60s')
  await provider.check(signal)
  equal(text((await store.get(path, signal))?.value), 'one')
  equal(plugin.calls.encrypt, 1, 'the key id did not change')
})

test('a seed that the plugin cannot decrypt fails the read; the error names the provider without its response', async () => {
  await using kms = await started()
  const inner = new MemoryStore(new VirtualClock())
  await put(storeOf(inner, kms.provider), 'one')
  const clock = new VirtualClock()
  const other = providerOf(kms.plugin, clock, { seed: 2 })
  const answers: FakePlugin['responses'][] = [
    { decrypt: () => 'error' },
    { decrypt: () => ({ plaintext: new Uint8Array(5) }) },
    { decrypt: () => ({ plaintext: new Uint8Array(1_000_000) }) },
  ]
  for (const each of answers) {
    kms.plugin.responses = each
    await rejects(storeOf(inner, other).get(path, signal), (error: Error) => {
      equal(error.message, 'KMS provider "fake": failed to decrypt DEK')
      return error.cause === undefined
    })
    const { decrypt } = kms.plugin.calls
    await rejects(storeOf(inner, other).get(path, signal), /failed to decrypt DEK/)
    equal(kms.plugin.calls.decrypt, decrypt, 'the plugin is not asked again at once')
    await clock.advance('1s')
  }
  kms.plugin.responses = { decrypt: () => ({ plaintext: new Uint8Array(32) }) }
  await rejects(storeOf(inner, other).get(path, signal), /the value cannot be decrypted/)
  other.close()
})

const long = 'x'.repeat(1_025)
const hostile: [what: string, answers: FakePlugin['responses'], message: RegExp][] = [
  [
    'another version',
    { status: () => ({ version: 'v3', healthz: 'ok', keyId: 'a' }) },
    /expected KMSv2 API version v2/,
  ],
  ['no key id', { status: () => ({ version: 'v2', healthz: 'ok', keyId: '' }) }, /keyID is empty/],
  [
    'a long key id',
    { status: () => ({ version: 'v2', healthz: 'ok', keyId: long }) },
    /keyID is 1025 bytes, which exc/,
  ],
  ['an error', { encrypt: () => 'error' }, /INTERNAL/],
  [
    'a large ciphertext',
    { encrypt: () => answered({ ciphertext: bytes(long) }) },
    /DEK source is 1025 bytes, which exc/,
  ],
  ['no ciphertext', { encrypt: () => answered({ ciphertext: bytes('') }) }, /encrypted DEK source is empty/],
  ['another key id', { encrypt: () => answered({ keyId: 'other' }) }, /failed to rotate DEK/],
  ['a plain annotation', { encrypt: () => answered({ annotations: { plain: bytes('') } }) }, /not a fully qualified/],
  [
    'large annotations',
    { encrypt: () => answered({ annotations: { 'a.b': bytes('x'.repeat(40_000)) } }) },
    /total size/,
  ],
  ['a huge response', { encrypt: () => answered({ ciphertext: new Uint8Array(1_000_000) }) }, /RESOURCE_EXHAUSTED/],
]
const answered = (changes: object) => ({ ciphertext: bytes('c'), keyId: 'key-1', annotations: {}, ...changes })
for (const [what, answers, message] of hostile)
  test(`a plugin that responds with ${what} is not used`, async () => {
    await using plugin = await FakePlugin.start()
    plugin.responses = answers
    const provider = providerOf(plugin, new VirtualClock())
    await rejects(provider.check(signal), message)
    throws(() => provider.seal(bytes('x'), path), /there is no data encryption key yet/)
    provider.close()
  })

test('a failed rotation retains the current seed', async () => {
  const clock = new VirtualClock()
  await using kms = await started(clock)
  const { keyVersion } = kms.provider
  kms.plugin.keyId = 'key-2'
  kms.plugin.responses = { encrypt: () => 'error' }
  await kms.provider.probe()
  equal(kms.provider.keyVersion, keyVersion)
  equal(text(await kms.provider.open(kms.provider.seal(bytes('x'), path), path)), 'x')
  kms.plugin.responses = {}
  await kms.provider.probe()
  notEqual(kms.provider.keyVersion, keyVersion)
})

test('a call to a plugin that does not respond ends after the timeout', async () => {
  await using plugin = await FakePlugin.start()
  plugin.responses = { status: () => 'silence' }
  const provider = providerOf(plugin, realClock, { timeoutMs: 50 })
  await rejects(provider.check(signal), /Status took longer than 50 ms/)
  provider.close()
})
