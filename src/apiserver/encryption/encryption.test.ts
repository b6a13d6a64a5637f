// Encryption at rest: the stored bytes, their decryption, and the replacement of a key.
import { deepEqual, equal, notEqual, ok, rejects, throws } from 'node:assert/strict'
import { mkdtemp, readFile, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeFiles } from '../../platform/node/files.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { ConfigReader } from '../config/config-reader.ts'
import { startServer } from '../server.harness.ts'
import { EncryptedStore } from './encrypted-store.ts'
import { ciphersFor, encryptionConfig } from './encryption-config.ts'
import { DataKeyMetrics } from './kms/data-key-metrics.ts'
import { openPolicies } from '../open-policies.ts'

const { signal } = new AbortController()
const deps = {
  crypto: nodeCrypto,
  random: seededRandom(1),
  http2: nodeHttp2,
  clock: realClock,
  log: silentLog,
  dataKeyMetrics: new DataKeyMetrics(new Metrics(), realClock),
}

const key = (name: string, fill: number, bytes = 32) => ({ name, secret: new Uint8Array(bytes).fill(fill).toBase64() })
const rulesOf = (providers: readonly object[], resources: readonly string[] = ['secrets']) =>
  encryptionConfig(
    new ConfigReader({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources, providers }],
    }),
    deps,
  )

const aesgcm = (...keys: readonly object[]) => ({ aesgcm: { keys } })
const first = aesgcm(key('key1', 1))
const second = aesgcm(key('key2', 2))
const plain = { identity: {} }
const path = '/registry/secrets/default/a'
const put = (store: Store, text: string, at = path) =>
  store.commit(
    { conditions: [], operations: [{ kind: 'put', key: at, value: new TextEncoder().encode(text) }] },
    signal,
  )
const textAt = async (store: Store, at = path) => new TextDecoder().decode((await store.get(at, signal))?.value)

const ciphers: [string, object][] = [
  ['k8s:enc:aesgcm:v1:key1:', aesgcm(key('key1', 1))],
  ['k8s:enc:aesgcm:v1:small:', aesgcm(key('small', 1, 16))],
  ['k8s:enc:aescbc:v1:key1:', { aescbc: { keys: [key('key1', 1)] } }],
  ['k8s:enc:secretbox:v1:key1:', { secretbox: { keys: [key('key1', 1)] } }],
]
for (const [prefix, provider] of ciphers)
  test(`values are written with ${prefix} and read again`, async () => {
    const inner = new MemoryStore(new VirtualClock())
    await put(new EncryptedStore(inner, rulesOf([provider, plain])), '{"password":"x"}')
    const kept = await textAt(inner)
    ok(kept.startsWith(prefix) && !kept.includes('password'))
    const later = new EncryptedStore(inner, rulesOf([plain, provider]))
    equal(await textAt(later), '{"password":"x"}')
    deepEqual((await later.range({ start: path, end: '' }, signal)).items.length, 1)
  })

test('a value is bound to its key in the store, and needs its encryption key', async () => {
  const inner = new MemoryStore(new VirtualClock())
  const store = new EncryptedStore(inner, rulesOf([first]))
  await put(store, '{}')
  const value = (await inner.get(path, signal))?.value ?? new Uint8Array()
  const elsewhere = '/registry/secrets/default/b'
  const copied = value.slice()
  await inner.commit({ conditions: [], operations: [{ kind: 'put', key: elsewhere, value: copied }] }, signal)
  await rejects(store.get(elsewhere, signal))
  await rejects(new EncryptedStore(inner, rulesOf([second, plain])).get(path, signal), /no matching prefix/)
  await put(store, 'plain', '/registry/configmaps/default/a')
  equal(await textAt(inner, '/registry/configmaps/default/a'), 'plain')
})

const wildcards: [string, boolean, boolean, boolean][] = [
  ['secrets', true, false, false],
  ['deployments.apps', false, false, true],
  ['*.apps', false, false, true],
  ['*.', true, true, false],
  ['*.*', true, true, true],
]
for (const [name, ...expected] of wildcards)
  test(`${name} covers the right resources`, () => {
    const rules = rulesOf([first], [name])
    deepEqual(
      [secret, configMap, deployment].map((kind) => ciphersFor(rules, kind)[0].prefix !== ''),
      expected,
    )
  })

const customWildcards: [name: string, encrypted: boolean][] = [
  ['crontabs.stable.example.com', true],
  ['*.stable.example.com', true],
  ['*.*', true],
  ['crontabs', false],
  ['*.example.com', false],
  ['*.', false],
]
for (const [name, encrypted] of customWildcards)
  test(`${name} ${encrypted ? 'includes' : 'does not include'} a custom resource`, async () => {
    const inner = new MemoryStore(new VirtualClock())
    const store = new EncryptedStore(inner, rulesOf([first, plain], [name]))
    const at = '/registry/stable.example.com/crontabs/default/a'
    await put(store, 'text', at)
    equal((await textAt(inner, at)).startsWith('k8s:enc:aesgcm:v1:key1:'), encrypted)
    equal(await textAt(store, at), 'text')
    store.setRules(rulesOf([second, first], [name]))
    equal(store.isStale(at, (await store.get(at, signal))?.value ?? new Uint8Array()), encrypted)
  })

test('definitions are encrypted under their keys, also under those of version 0.1', async () => {
  const ends = ['apiextensions.k8s.io/customresourcedefinitions/a', 'customresourcedefinitions/b', 'apiservices/c']
  for (const at of ends.map((end) => `/registry/${end}`)) {
    const inner = new MemoryStore(new VirtualClock())
    const store = new EncryptedStore(inner, rulesOf([first, plain], ['*.apiextensions.k8s.io', 'apiservices.*']))
    await put(store, 'text', at)
    const isEncrypted = (await textAt(inner, at)).startsWith('k8s:enc:aesgcm:v1:key1:')
    equal(isEncrypted, at.includes('customresourcedefinitions'), at)
    equal(await textAt(store, at), 'text')
  }
})

test('an invalid configuration is rejected, without its secrets in the message', () => {
  throws(() => rulesOf([aesgcm(key('a', 1, 7))]), /secret must have 16, 24 or 32 bytes and has 7/)
  throws(
    () => rulesOf([aesgcm({ name: 'a', secret: '!!' })]),
    (error: Error) => !error.message.includes('!!'),
  )
  throws(() => rulesOf([]), /providers must not be empty/)
})

test('a key is replaced by rewriting every object, and no file contains plaintext', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-encryption-'))
  const inner = await SqliteStore.open(
    { path: join(folder, 'store.db'), workers: nodeWorkers, clock: realClock },
    signal,
  )
  const store = new EncryptedStore(inner, rulesOf([first, plain]))
  const hidden = Buffer.from('a very hidden word').toString('base64')
  const inFiles = async (text: string) => {
    const names = await readdir(folder)
    const all = await Promise.all(names.map((name) => readFile(join(folder, name))))
    return all.some((bytes) => bytes.includes(text))
  }
  {
    await using api = await startServer(openPolicies, { store })
    const secrets = '/api/v1/namespaces/default/secrets'
    await api.call('POST', secrets, { metadata: { name: 'a' }, data: { word: hidden } })
    ok(!(await inFiles(hidden)))
    ok(await inFiles('k8s:enc:aesgcm:v1:key1:'))
    const before = (await api.call('GET', `${secrets}/a`)).body
    equal(
      (await api.call('PUT', `${secrets}/a`, before)).body.metadata.resourceVersion,
      before.metadata.resourceVersion,
    )
    store.setRules(rulesOf([second, first, plain]))
    const after = (await api.call('PUT', `${secrets}/a`, before)).body
    notEqual(after.metadata.resourceVersion, before.metadata.resourceVersion)
    equal(after.data.word, hidden)
    ok(!(await inFiles(hidden)))
    store.setRules(rulesOf([second]))
    equal((await api.call('GET', `${secrets}/a`)).body.data.word, hidden)
    ok((await textAt(inner)).startsWith('k8s:enc:aesgcm:v1:key2:'))
  }
  await inner.close()
  await nodeFiles.remove(folder)
})
