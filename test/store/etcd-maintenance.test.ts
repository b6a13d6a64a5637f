// Maintenance of etcd: compaction by one of several servers, snapshots, and detection of another cluster.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { EtcdStore } from '../../src/store/etcd/etcd-store.ts'
import { Compacted, StoreUnavailable, type Store } from '../../src/store/store.ts'
import { EtcdCluster, etcds, newestEtcd } from '../etcd.ts'
import { until } from '../until.ts'

const { signal } = new AbortController()
const put = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new TextEncoder().encode(value) }] }, signal)
const contentOf = async (store: Store) =>
  (await store.range({ start: '/pair/', end: '/pair0' }, signal)).items.map(
    ({ key, value }) => `${key}=${new TextDecoder().decode(value)}`,
  )

test('history is compacted after its window by one of the stores of a cluster', async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 1)
  const stores: EtcdStore[] = []
  for (let i = 0; i < 3; i++) stores.push(await cluster.openStore({ historyMs: 300 }))
  const [store] = stores
  ok(store !== undefined)
  const { revision } = await put(store, '/a', '1')
  await put(store, '/a', '2')
  const isForgotten = async () => {
    try {
      await store.range({ start: '/a', end: '/b', revision }, signal)
      return false
    } catch (error) {
      ok(error instanceof Compacted, String(error))
      return true
    }
  }
  await until(isForgotten)
  equal(new TextDecoder().decode((await store.get('/a', signal))?.value), '2')
  // Intervals are counted in upstream's key, so that its API servers and ours do not compete.
  const turns = await store.get('compact_rev_key', signal)
  match(new TextDecoder().decode(turns?.value), /^\d+$/)
  for (const one of stores) await one.close()
})

// The system's etcdctl matches the system's etcd, the oldest version.
test('a snapshot under load is consistent, and etcd restores it', async () => {
  const [etcd] = etcds()
  ok(etcd !== undefined)
  await using cluster = await EtcdCluster.start(etcd, 1)
  const store = await cluster.openStore()
  let count = 0
  const writePair = () => {
    const value = new TextEncoder().encode(`${count++} ${'x'.repeat(10_000)}`)
    const operations = ['/pair/left', '/pair/right'].map((key) => ({ kind: 'put', key, value }) as const)
    return store.commit({ conditions: [], operations }, signal)
  }
  for (let i = 0; i < 200; i++) await writePair()
  const stopped = new AbortController()
  const writing = (async () => {
    while (!stopped.signal.aborted) await writePair()
  })()
  const path = join(cluster.directory, 'snapshot.db')
  await store.snapshotTo(path, signal)
  stopped.abort()
  await writing
  equal((await stat(path)).mode & 0o777, 0o600)
  equal(existsSync(`${path}.part`), false)
  await store.close()

  await cluster.signal(0, 'SIGKILL')
  const restored = join(cluster.directory, 'restored')
  const name = ['--name', 'm0', '--initial-cluster', cluster.initialCluster, '--initial-cluster-token', 'restored']
  const peer = ['--initial-advertise-peer-urls', cluster.initialCluster.replace('m0=', '')]
  const environment = { ...process.env, ETCDCTL_API: '3' }
  await promisify(execFile)('etcdctl', ['snapshot', 'restore', path, '--data-dir', restored, ...name, ...peer], {
    env: environment,
  })
  cluster.run(0, restored)
  await cluster.ready()
  const again = await cluster.openStore()
  const [left, right] = await contentOf(again)
  ok(left !== undefined && left.length > 10_000)
  equal(left.replace('left', 'right'), right)
  await again.close()
})

test('a snapshot that cannot be written or does not arrive completely leaves no file', async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 1)
  const store = await cluster.openStore()
  await rejects(store.snapshotTo(join(cluster.directory, 'missing', 'snapshot'), signal), /ENOENT/)
  const path = join(cluster.directory, 'snapshot')
  await writeFile(path, 'the one before')
  const aborted = new AbortController()
  aborted.abort(new Error('enough'))
  await rejects(store.snapshotTo(path, aborted.signal), /enough/)
  equal(await readFile(path, 'utf8'), 'the one before')
  equal(existsSync(`${path}.part`), false)
  await store.close()
})

test('a watch ends with an error when a member belongs to another cluster', async () => {
  await using cluster = await EtcdCluster.start(newestEtcd(), 1)
  const store = await cluster.openStore()
  await put(store, '/a', '1')
  const watching = (async () => {
    for await (const { events } of store.watch({ prefix: '/a', from: store.revision }, signal))
      if (events.length > 0) {
        await cluster.signal(0, 'SIGKILL')
        cluster.run(0, join(cluster.directory, 'empty'), 'another-token')
      }
  })()
  await rejects(watching, (error: Error) => {
    ok(error instanceof StoreUnavailable, String(error))
    match(error.message, /belongs to cluster \d+, not to \d+/)
    return true
  })
  deepEqual(await contentOf(store), [])
  await store.close()
})
