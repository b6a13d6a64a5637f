// The process of coxswain etcd, in this one: its stores, its snapshot, its end.
import { equal } from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { memberIdentity } from '../../store/etcd-server/member-identity.ts'
import { runEtcd } from './run-etcd.ts'

async function start(dataDirectory: string | undefined) {
  const stop = new AbortController()
  const ready = Promise.withResolvers<number>()
  const ended = runEtcd(
    {
      dataDirectory,
      listen: [{ host: '127.0.0.1', port: 0, tls: undefined }],
      requiresCertificate: false,
      identity: memberIdentity({ name: 'a', peerUrls: ['http://localhost:2380'], clientUrls: [] }, 'etcd-cluster'),
      history: { ms: Infinity, bounds: { versionsMax: Infinity, bytesMax: Infinity } },
      fileBytesMax: 100_000_000,
      syncs: false,
      progressMs: 600_000,
      log: silentLog,
      onReady: ([listener]) => ready.resolve(listener?.port ?? 0),
    },
    stop.signal,
  )
  ended.catch(ready.reject)
  const endpoints = [`http://127.0.0.1:${await ready.promise}`]
  const store = await EtcdStore.open(
    { http2: nodeHttp2, clock: realClock, random: systemRandom, endpoints },
    stop.signal,
  )
  return {
    store,
    async stop() {
      await store.close()
      stop.abort()
      await ended
    },
  }
}

const { signal } = new AbortController()
const write = (store: EtcdStore, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array(10_000) }] }, signal)

test('a store in a file continues after a stop, and leaves no copies of snapshots', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-run-etcd-'))
  try {
    const data = join(directory, 'data')
    const first = await start(data)
    equal((await write(first.store, '/a')).revision, 2)
    const snapshot = join(directory, 'snapshot')
    await first.store.snapshotTo(snapshot, signal)
    equal((await stat(snapshot)).size > 10_000, true)
    await first.stop()
    equal(
      (await readdir(data)).some((name) => name.startsWith('snapshot')),
      false,
    )
    const second = await start(data)
    equal((await second.store.get('/a', signal))?.modRevision, 2)
    await second.stop()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('a store in memory starts empty', async () => {
  for (let round = 0; round < 2; round++) {
    const { store, stop } = await start(undefined)
    equal((await write(store, '/a')).revision, 2)
    await stop()
  }
})
