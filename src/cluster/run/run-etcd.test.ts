// The process of coxswain etcd, in this one: its stores, its snapshot, its end.
import { equal } from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { startEtcd } from './run-etcd.harness.ts'

const { signal } = new AbortController()
const write = (store: EtcdStore, key: string) =>
  store.commit({ conditions: [], operations: [{ kind: 'put', key, value: new Uint8Array(10_000) }] }, signal)

test('a store in a file continues after a stop, and leaves no copies of snapshots', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-run-etcd-'))
  try {
    const data = join(directory, 'data')
    const first = await startEtcd(data)
    equal((await write(first.store, '/a')).revision, 2)
    const snapshot = join(directory, 'snapshot')
    await first.store.snapshotTo(snapshot, signal)
    equal((await stat(snapshot)).size > 10_000, true)
    await first.stop()
    equal(
      (await readdir(data)).some((name) => name.startsWith('snapshot')),
      false,
    )
    const second = await startEtcd(data)
    equal((await second.store.get('/a', signal))?.modRevision, 2)
    await second.stop()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('a store in memory starts empty', async () => {
  for (let round = 0; round < 2; round++) {
    const { store, stop } = await startEtcd(undefined)
    equal((await write(store, '/a')).revision, 2)
    await stop()
  }
})
