// Our own driver for etcd passes the contract of stores on the served API, on each local store.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { realClock, type Clock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { storeContract } from '../contract.suite.ts'
import { EtcdStore } from '../etcd/etcd-store.ts'
import type { LocalStore } from '../local-store.ts'
import { MemoryStore } from '../memory-store.ts'
import { SqliteStore } from '../sqlite/sqlite-store.ts'
import { apiSteps } from './api-steps.harness.ts'
import { serveEtcd } from './etcd-server.harness.ts'
import { memberIdentity } from './member-identity.ts'

const { signal } = new AbortController()
const directory = await mkdtemp(join(tmpdir(), 'coxswain-etcd-server-'))
after(() => rm(directory, { recursive: true }))

let count = 0
const openSqlite = () =>
  SqliteStore.open({ path: join(directory, `${++count}.db`), clock: realClock, workers: nodeWorkers }, signal)

/** Client and server share an event loop, so on a busy machine a response takes longer than the driver waits for it. */
const patientClock: Clock = { ...realClock, monotonicMs: () => realClock.monotonicMs() / 20 }

const stores: readonly [name: string, open: () => Promise<LocalStore>][] = [
  ['memory', () => Promise.resolve(new MemoryStore(realClock))],
  ['sqlite', openSqlite],
]
for (const [name, open] of stores) {
  const starting = open().then(async (store) => ({ store, served: await serveEtcd(store) }))
  after(async () => {
    const { store, served } = await starting
    await served[Symbol.asyncDispose]()
    await store.close()
  })
  storeContract(`etcd API on ${name}`, async () => {
    const { served } = await starting
    const deps = { http2: nodeHttp2, clock: patientClock, random: systemRandom }
    return {
      // A new prefix gives an empty store in a used one.
      store: await EtcdStore.open({ ...deps, endpoints: [served.endpoint], prefix: `/contract-${++count}` }, signal),
      pass: (ms) => realClock.sleep(ms, signal),
      leaseMs: 3_000,
    }
  })
}

test('a store in memory and one in a file give equal answers', async () => {
  const [memory, file] = [new MemoryStore(realClock), await openSqlite()]
  await using first = await serveEtcd(memory)
  await using second = await serveEtcd(file)
  for (const [name, call] of apiSteps) deepEqual(await call(first.channel), await call(second.channel), name)
  await Promise.all([memory.close(), file.close()])
})

test('a snapshot ends with its checksum, and is a store', async () => {
  const store = await openSqlite()
  await store.commit(
    { conditions: [], operations: [{ kind: 'put', key: '/a', value: new Uint8Array(500_000) }] },
    signal,
  )
  const copyTo = async (stop: AbortSignal) => {
    const path = join(directory, `${++count}.copy`)
    await store.snapshotTo(path, stop)
    return { path, bytes: (await stat(path)).size }
  }
  await using served = await serveEtcd(store, { copyTo })
  const deps = { http2: nodeHttp2, clock: realClock, random: systemRandom }
  const client = await EtcdStore.open({ ...deps, endpoints: [served.endpoint] }, signal)
  const path = join(directory, `${++count}.db`)
  // The driver verifies the checksum.
  await client.snapshotTo(path, signal)
  await client.close()
  const copy = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
  equal((await copy.get('/a', signal))?.value.length, 500_000)
  await Promise.all([copy.close(), store.close()])
})

test('health, versions and unknown paths are served over HTTP/1.1 on the same port', async () => {
  await using served = await serveEtcd(new MemoryStore(realClock))
  const got = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${served.endpoint}${path}`, init)
    return `${response.status} ${await response.text()}`
  }
  equal(await got('/health'), '200 {"health":"true","reason":""}')
  equal(await got('/readyz?verbose'), '200 ok\n')
  match(await got('/version'), /^200 \{"etcdserver":"3\.6\.\d+","etcdcluster":"3\.6\.0"/)
  equal(await got('/v2/keys'), '404 404 page not found\n')
  equal(await got('/health', { method: 'POST' }), '405 Method Not Allowed\n')
})

test('the ids are those of etcd with the same flags', () => {
  const names = { name: 'default', peerUrls: ['http://localhost:2380'], clientUrls: [] }
  const { memberId, clusterId } = memberIdentity(names, 'etcd-cluster')
  deepEqual([memberId.toString(16), clusterId.toString(16)], ['8e9e05c52164694d', 'cdf818194e3a8c32'])
})
