// Snapshots are consistent while writes continue, and a restored store has a higher revision.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { nodeWorkers } from '../../platform/node/process/workers.ts'
import { Compacted } from '../store.ts'
import { StoreCorrupt, StoreInUse } from './store-errors.ts'
import { contentOf, eventsOf, freshPath, openAt, put, remove, signal, text } from './sqlite-store.harness.ts'
import { restoreSnapshot } from './sqlite-snapshot.ts'

test('a snapshot under load contains both keys of every pair that was written together', async () => {
  const store = await openAt(freshPath())
  await put(store, '/before', 'x'.repeat(1_000_000))
  const acknowledged = store.revision
  const stopped = new AbortController()
  let i = 0
  const writer = (async () => {
    while (!stopped.signal.aborted) {
      const value = new TextEncoder().encode(String(i++))
      const operations = ['/left', '/right'].map((key) => ({ kind: 'put', key, value }) as const)
      await store.commit({ conditions: [], operations }, signal)
    }
  })()
  const path = freshPath()
  await store.snapshotTo(path, signal)
  stopped.abort()
  await writer
  const copy = await openAt(path)
  ok(copy.revision >= acknowledged)
  ok(copy.revision <= store.revision)
  equal(text((await copy.get('/left', signal))?.value), text((await copy.get('/right', signal))?.value))
  equal((await copy.get('/before', signal))?.value.length, 1_000_000)
  await copy.close()
  await store.close()
})

test('a restored store has the content, a higher revision and no history', async () => {
  const store = await openAt(freshPath())
  for (let i = 0; i < 5; i++) await put(store, '/a', String(i))
  await put(store, '/b', 'x', await store.grantLease(60_000, signal))
  await put(store, '/gone', 'x')
  await remove(store, '/gone')
  const snapshot = freshPath()
  await store.snapshotTo(snapshot, signal)
  await put(store, '/a', 'later')
  const to = freshPath()
  await restoreSnapshot({ from: snapshot, to, workers: nodeWorkers, revisionsAhead: 1_000 }, signal)
  const restored = await openAt(to)
  deepEqual(await contentOf(restored), ['/a=4 2 6', '/b=x 7 7'])
  equal(restored.revision, store.revision - 1 + 1_000)
  await rejects(eventsOf(restored, store.revision, 1), Compacted)
  deepEqual(await put(restored, '/c', 'x'), { kind: 'committed', revision: restored.revision })
  await restored.close()
  const reopened = await openAt(to)
  equal(reopened.revision, restored.revision)
  equal((await contentOf(reopened)).length, 3)
  await reopened.close()
  await store.close()
})

test('a restore replaces no store and rejects a damaged snapshot', async () => {
  const path = freshPath()
  const store = await openAt(path)
  await put(store, '/a', '1')
  const snapshot = freshPath()
  await store.snapshotTo(snapshot, signal)
  await rejects(store.snapshotTo(path, signal), StoreInUse)
  await rejects(restoreSnapshot({ from: snapshot, to: path, workers: nodeWorkers }, signal), StoreInUse)
  await store.close()
  await rejects(restoreSnapshot({ from: snapshot, to: path, workers: nodeWorkers }, signal), (error: Error) => {
    match(error.message, /the store exists/)
    return true
  })
  const rubbish = freshPath()
  copyFileSync(snapshot, rubbish)
  writeFileSync(rubbish, 'rubbish', { flag: 'r+' })
  const to = freshPath()
  await rejects(restoreSnapshot({ from: rubbish, to, workers: nodeWorkers }, signal), StoreCorrupt)
  equal(existsSync(to), false)
})
